import PQueue from 'p-queue';
import { SyncError } from '../../../lib/sync-error.ts';
import { tooLongError } from './question.ts';

/** The questions of one user: one is answered, two wait. */
const MOST_PER_USER = 3;
const EXTRA_MS = 1_000;

/**
 * Makes a queue that works one question at a time, so that questions never take more than one core and the memory of one process.
 * Users take turns. A caller has an answer or an error a second after its time is up, but the next question begins only once the
 * work of the last one has ended.
 *
 * @param lateAfter Returns a signal that fires after some milliseconds.
 */
export function createTurns(lateAfter = (ms: number): AbortSignal => AbortSignal.timeout(ms)) {
  const queue = new PQueue({ concurrency: 1 });
  const callers = new Map<string, number>();
  const nextRounds = new Map<string, number>(); // Each user has one question in a round.
  let round = 0;
  /** Does some work that may take `timeoutMs` in its turn, for a user who may go away. */
  return async <T>(
    user: string,
    { gone, timeoutMs }: { readonly gone: AbortSignal; readonly timeoutMs: number },
    work: (ended: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const count = callers.get(user) ?? 0;
    if (count >= MOST_PER_USER) throw busyError();
    callers.set(user, count + 1);
    const own = Math.max(round, nextRounds.get(user) ?? 0);
    nextRounds.set(user, own + 1);
    const ended = AbortSignal.any([gone, lateAfter(timeoutMs + EXTRA_MS)]);
    let hasBegun = false;
    try {
      return await new Promise((resolve, reject) => {
        const job = async (): Promise<void> => {
          round = own;
          if (ended.aborted) return;
          hasBegun = true;
          await work(ended).then(resolve, reject);
        };
        ended.addEventListener('abort', () => {
          reject(hasBegun ? tooLongError(timeoutMs) : busyError());
        });
        void queue.add(job, { priority: -own });
      });
    } finally {
      callers.set(user, (callers.get(user) ?? 1) - 1);
    }
  };
}

const busyError = (): SyncError =>
  new SyncError('Too many questions are waiting.', { code: 'mcp.busy', hint: 'Ask again later.' });
