import type { Clock } from '../../src/lib/time/clock.ts';

export interface FakeClock extends Clock {
  /** Every sleep that was asked for, in milliseconds. */
  readonly sleeps: number[];
  /** Sets the clock of the machine: the monotonic one goes on. */
  readonly setBy: (ms: number) => void;
}

/** Time that passes only while somebody sleeps, and then at once. */
export function fakeClock(start = '2026-03-01T12:00:00Z'): FakeClock {
  let origin = Date.parse(start);
  const sleeps: number[] = [];
  let elapsed = 0;
  return {
    sleeps,
    now: () => new Date(origin + elapsed),
    monotonicMs: () => elapsed,
    setBy: (ms) => {
      origin += ms;
    },
    sleep: (ms, signal) => {
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      sleeps.push(ms);
      elapsed += ms;
      return Promise.resolve();
    },
  };
}
