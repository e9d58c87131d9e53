import type { Clock } from '../../lib/clock.ts';

export type Pace = (signal: AbortSignal) => Promise<void>;

/** Spaces sends evenly: each call resolves when its turn has come. Without a rate, at once. */
export function createPace(requestsPerSecond: number | null, clock: Clock): Pace {
  if (requestsPerSecond === null) return () => Promise.resolve();
  let next = -Infinity;
  return async (signal) => {
    const now = clock.monotonicMs();
    const turn = Math.max(now, next);
    next = turn + 1000 / requestsPerSecond;
    if (turn > now) await clock.sleep(turn - now, signal);
  };
}
