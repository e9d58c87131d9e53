/**
 * Reads the next item of a sequence while the caller works on the present one.
 *
 * A fault is thrown at its item's turn. A caller that stops early ends the sequence.
 */
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
