/** Reads the next item while the caller works on the present one; a fault waits for its turn, and an early stop ends the items. */
export async function* readAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  // Settled results: an item that fails before its turn must not be an unhandled rejection.
  const read = (): Promise<PromiseSettledResult<IteratorResult<T>>[]> => Promise.allSettled([items.next()]);
  try {
    for (let [result] = await read(); result;) {
      if (result.status === 'rejected') throw result.reason;
      if (result.value.done === true) return;
      const next = read();
      yield result.value.value;
      [result] = await next;
    }
  } finally {
    await items.return(undefined);
  }
}
