import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Gathers what has arrived by the next turn of the event loop, so that one transaction can land it; waits for no more.
 *
 * An error ends the batch before it: what came earlier is handed out first.
 */
export async function* arrivedTogether<T>(items: AsyncIterable<T>, most: number): AsyncGenerator<T[]> {
  const iterator = items[Symbol.asyncIterator]();
  let next = settled(iterator.next());
  try {
    for (let first = unwrap(await next); first.done !== true; first = unwrap(await next)) {
      const batch = [first.value];
      next = settled(iterator.next());
      const another = async () => (batch.length < most ? arrived(next) : null);
      for (let more = await another(); more !== null; more = await another()) {
        batch.push(more.value);
        next = settled(iterator.next());
      }
      yield batch;
    }
  } finally {
    await iterator.return?.();
  }
}

type Settled<T> = { readonly result: IteratorResult<T, unknown> } | { readonly error: unknown };

/** An error waits for its turn: unlooked at, it would be an unhandled rejection. */
async function settled<T>(next: Promise<IteratorResult<T, unknown>>): Promise<Settled<T>> {
  return next.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
}

function unwrap<T>(settledNext: Settled<T>): IteratorResult<T, unknown> {
  if ('error' in settledNext) throw settledNext.error;
  return settledNext.result;
}

/** The next item if it is there within this turn of the loop; null if not, or if there is none. */
async function arrived<T>(next: Promise<Settled<T>>): Promise<IteratorYieldResult<T> | null> {
  const now = await Promise.race([next, nextTurn(null)]);
  return now === null || 'error' in now || now.result.done === true ? null : now.result;
}
