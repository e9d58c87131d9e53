import type { Clock } from '../../lib/time/clock.ts';
import type { SourceParts, SourceSettings } from './http.ts';

/** Runs when its turn has come: paced, a few at a time. Rejects where the signal fires first. */
export type TakeTurn = <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;

interface TurnParts extends Pick<SourceParts, 'clock'> {
  readonly width: Pick<Width, 'now'>;
  /** Each request counts as it takes its turn. */
  readonly counts: { requests: number };
}

/** Creates the queue that all requests of a source wait in: a semaphore and a rate limit. */
export function createTurns(settings: SourceSettings, { clock, width, counts }: TurnParts): TakeTurn {
  const semaphore = createSemaphore(width.now);
  const pace = createPace(settings.requestsPerSecond, clock);

  return async (run, signal) => {
    await semaphore.enter(signal);
    try {
      await pace(signal);
      counts.requests++;
      return await run();
    } finally {
      semaphore.leave();
    }
  };
}

/** A semaphore whose size may change: waiting callers enter in order. */
interface Semaphore {
  /** Resolves when there is room; rejects when the signal fires first. Every entry needs a `leave`. */
  enter(signal: AbortSignal): Promise<void>;
  leave(): void;
}

function createSemaphore(size: () => number): Semaphore {
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

/** Most requests side by side while a moving list is read, unless `source.concurrency` is larger. */
const MOST_SIDE_BY_SIDE = 16;

/** Time during which the limit is not doubled after the service has asked for fewer requests, in milliseconds. */
const CALM_MS = 900_000;

interface WidthFacts {
  /** `source.concurrency`. */
  readonly concurrency: number;
  /** A moving list is being read: the shorter the reading, the less it moves. */
  readonly isMoving: boolean;
  /** Since the service last answered 429 or 503; Infinity = it never did. */
  readonly calmMs: number;
}

/** How many requests may be under way at once: twice as many for a list that moves, unless the service has asked for fewer. */
export function widthFor({ concurrency, isMoving, calmMs }: WidthFacts): number {
  if (!isMoving || calmMs < CALM_MS) return concurrency;
  return Math.max(concurrency, Math.min(2 * concurrency, MOST_SIDE_BY_SIDE));
}

/** The most that `widthFor` allows. */
export const widest = (concurrency: number): number =>
  widthFor({ concurrency, isMoving: true, calmMs: Infinity });

/** How many requests of one source may be under way at once, at this moment. */
export interface Width {
  readonly now: () => number;
  /** Raises the limit while a moving list is read; returns the function that ends that. */
  readonly widen: () => () => void;
  /** Lowers the limit if an answer shows that the service wants fewer requests. */
  readonly note: (status: number) => void;
}

export function createWidth(concurrency: number, clock: Pick<Clock, 'monotonicMs'>): Width {
  let moving = 0;
  let refusedAt = -Infinity;
  return {
    now: () => widthFor({ concurrency, isMoving: moving > 0, calmMs: clock.monotonicMs() - refusedAt }),
    widen: () => {
      moving++;
      return () => {
        moving--;
      };
    },
    note: (status) => {
      if (status === 429 || status === 503) refusedAt = clock.monotonicMs();
    },
  };
}
