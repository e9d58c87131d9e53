import type { Clock } from '../../lib/clock.ts';
import type { SourceParts, SourceSettings } from '../http/settings.ts';
import type { Width } from '../http/width.ts';

/** Runs when its turn has come: paced, a few at a time. Rejects where the signal fires first. */
type TakeTurn = <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Creates the queue that all requests of a source wait in: a semaphore and a rate limit. */
export function createTurns(
  settings: SourceSettings,
  { clock, width }: Pick<SourceParts, 'clock'> & { readonly width: Pick<Width, 'now'> },
): TakeTurn {
  const gate = createGate(width.now);
  const pace = createPace(settings.requestsPerSecond, clock);

  return async (run, signal) => {
    await gate.enter(signal);
    try {
      await pace(signal);
      return await run();
    } finally {
      gate.leave();
    }
  };
}

/** A semaphore whose size may change: waiting callers enter in order. */
interface Gate {
  /** Resolves when there is room; rejects when the signal fires first. Every entry needs a `leave`. */
  enter(signal: AbortSignal): Promise<void>;
  leave(): void;
}

function createGate(size: () => number): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();

  return {
    enter: (signal) => {
      signal.throwIfAborted();
      if (inside < size()) {
        inside++;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const admit = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        };
        const giveUp = (): void => {
          waiting.delete(admit);
          reject(new Error('aborted while waiting'));
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(admit);
      });
    },
    leave: () => {
      inside--;
      for (const next of waiting) {
        if (inside >= size()) return;
        waiting.delete(next);
        inside++;
        next();
      }
    },
  };
}

type Pace = (signal: AbortSignal) => Promise<void>;

/** Spaces sends evenly: each call resolves when its turn has come. Without a rate, at once. */
function createPace(requestsPerSecond: number | null, clock: Clock): Pace {
  if (requestsPerSecond === null) return () => Promise.resolve();
  let next = -Infinity;
  return async (signal) => {
    const now = clock.monotonicMs();
    const turn = Math.max(now, next);
    next = turn + 1000 / requestsPerSecond;
    if (turn > now) await clock.sleep(turn - now, signal);
  };
}
