/** Reads the next item while the caller works on the present one; a fault waits for its turn, and an early stop ends the items. */
export async function* readAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    for (let item = await items.next(); item.done !== true;) {
      const next = untilItsTurn(items.next());
      yield item.value;
      item = await next;
    }
  } finally {
    await items.return(undefined);
  }
}

/** A promise that is awaited later: if it fails before, that is no unhandled rejection. */
export function untilItsTurn<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined); // Whoever awaits it gets the error.
  return promise;
}
