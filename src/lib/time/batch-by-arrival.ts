import { untilItsTurn } from '../read-ahead.ts';

interface BatchLimits<T> {
  /** The sum of weights up to which a batch waits for others. */
  readonly targetWeight: number;
  /** How long its first item may wait for enough, in milliseconds. */
  readonly lingerMs: number;
  /** The largest sum of weights. */
  readonly maxWeight: number;
  /** From enough to most, a batch takes items that come within so many milliseconds of the one before. */
  readonly pauseMs: number;
  readonly weigh: (item: T) => number;
}

/**
 * Batches responses that arrive close together, so that one transaction lands them: each commit waits for the disk. An error
 * ends the batch before it.
 */
export async function* batchByArrival<T>(
  items: AsyncIterable<T>,
  limits: BatchLimits<T>,
): AsyncGenerator<T[]> {
  const iterator = items[Symbol.asyncIterator]();
  let next = untilItsTurn(iterator.next());
  try {
    for (let first = await next; first.done !== true; first = await next) {
      const batch = [first.value];
      let weight = limits.weigh(first.value);
      next = untilItsTurn(iterator.next());
      const linger = startTimer(limits.lingerMs);
      const nextInBatch = async () => {
        if (weight < limits.targetWeight) return nextBefore(next, linger.over);
        if (weight >= limits.maxWeight) return null;
        const pause = startTimer(limits.pauseMs);
        const more = await nextBefore(next, pause.over);
        pause.stop();
        return more;
      };
      for (let more = await nextInBatch(); more !== null; more = await nextInBatch()) {
        batch.push(more.value);
        weight += limits.weigh(more.value);
        next = untilItsTurn(iterator.next());
      }
      linger.stop();
      yield batch;
    }
  } finally {
    await iterator.return?.();
  }
}

/** A timer of the process: batching does not depend on the sweep's clock. */
function startTimer(ms: number) {
  const { promise: over, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, ms, null);
  return { over, stop: (): void => clearTimeout(timer) };
}

/** The next item if it comes within the waiting time; null if not, or if there is none. */
async function nextBefore<T>(next: Promise<IteratorResult<T, unknown>>, over: Promise<null>) {
  const now = await Promise.race([next.catch(() => null), over]);
  return now?.done === true ? null : now;
}
