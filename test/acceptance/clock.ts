import { systemClock, type Clock } from '../../src/lib/time/clock.ts';

/** A day passes in a minute. */
export const PACE = 24 * 60;

/**
 * A calendar that has run at a day a minute since an instant of the real one, and whose waits are as much shorter.
 *
 * `monotonicMs` stays as it is: it measures how long a request or a pause of this process really took, which no calendar
 * makes shorter. A send that seemed to have waited for hours would never leave.
 */
export function fastClock(beganMs: number): Clock {
  return {
    now: () => new Date(beganMs + (Date.now() - beganMs) * PACE),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) => systemClock.sleep(ms / PACE, signal),
  };
}
