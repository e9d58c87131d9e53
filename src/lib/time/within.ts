import type { Clock } from './clock.ts';

/** Stands for a result that did not come in time. */
export const LATE = Symbol('late');

/** Waits for `work` no longer than `ms`; a later result or error is ignored. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | typeof LATE> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, timer.signal).then((): typeof LATE => LATE)]);
  } finally {
    timer.abort();
  }
}
