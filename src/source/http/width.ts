import type { Clock } from '../../lib/clock.ts';

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
