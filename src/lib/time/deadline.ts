import type { Clock } from './clock.ts';

/**
 * Joins signals and, unless `ms` is null, a timer into one signal; `release` removes the timer and the listeners.
 *
 * AbortSignal.any would keep a reference to a long-lived signal.
 */
export function createDeadline(ms: number | null, signals: readonly (AbortSignal | undefined)[]) {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  let hasTimedOut = false;
  const onTimeout = (): void => {
    hasTimedOut = true;
    abort();
  };
  const timer = ms === null ? undefined : setTimeout(onTimeout, ms);
  for (const signal of signals) {
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: controller.signal,
    isTimedOut: () => hasTimedOut,
    release: (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener('abort', abort);
    },
  };
}

/** Stands for a result that did not come in time. */
export const TIMED_OUT_RESULT = Symbol('late');

/** Waits for `work` no longer than `ms`; a later result or error is ignored. */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>) {
  const timer = new AbortController();
  try {
    return await Promise.race([
      work,
      clock.sleep(ms, timer.signal).then((): typeof TIMED_OUT_RESULT => TIMED_OUT_RESULT),
    ]);
  } finally {
    timer.abort();
  }
}
