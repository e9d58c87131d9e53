import { parseInstant, formatInstant, type Clock } from '../lib/time/clock.ts';
import type { Entry } from '../store/outbox/outbox-store.ts';

export type Stopwatch = ReturnType<typeof startStopwatch>;

/**
 * Starts a process's measure of time that has passed. It begins at the wall clock and goes on by the monotonic one, so that a jump
 * of the wall clock does not count.
 */
export function startStopwatch(clock: Clock) {
  const wallMs = clock.now().getTime();
  const startMs = clock.monotonicMs();
  const runningMs = (): number => clock.monotonicMs() - startMs;
  return { runningMs, now: (): Date => new Date(wallMs + runningMs()) };
}

/** The time since an entry's send was lost, as its row keeps it. */
type Elapsed = Pick<Entry, 'elapsedMs' | 'elapsedAt'>;

/** A send has just been lost: time begins. */
export const startElapsed = (stopwatch: Stopwatch): Elapsed => ({
  elapsedMs: 0,
  elapsedAt: formatInstant(stopwatch.now()),
});

/** The time until now. It grows only while this process runs: the rest is unknown. */
export function updateElapsed(stopwatch: Stopwatch, elapsed: Elapsed): Elapsed {
  if (elapsed.elapsedAt === null) return startElapsed(stopwatch);
  const sinceMs = stopwatch.now().getTime() - parseInstant(elapsed.elapsedAt).getTime();
  const grownMs = Math.min(Math.max(0, sinceMs), stopwatch.runningMs());
  return { elapsedMs: elapsed.elapsedMs + Math.floor(grownMs), elapsedAt: formatInstant(stopwatch.now()) };
}
