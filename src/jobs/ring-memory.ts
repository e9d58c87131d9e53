import type { Pace } from './pace.ts';
import type { Ring } from './work-queue.ts';

/** What this process remembers of a row since it became due. */
export interface Rung {
  readonly epoch: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Whether the bell took the last ring. */
  readonly sent: boolean;
  readonly times: number;
}

export interface DueRow {
  readonly ring: Ring;
  readonly rung: Rung | undefined;
  /** Milliseconds of a clock that never runs backwards. */
  readonly now: number;
  /** How many hands had nothing to do. */
  readonly free: number;
  /** Whether this process has only just begun to look. */
  readonly isFirstLook: boolean;
}

/** Ring it, ring it with a new epoch, work it without the bell, or leave it be. */
export type Decision = 'ring' | 'raise' | 'work' | 'wait';

type Patience = Pick<Pace, 'lookMs' | 'ringAgainMs' | 'workHereMs' | 'unsentMs'>;

/**
 * What to do about a row that is due.
 *
 * What a process finds when it begins may have been rung before, and the ring may be in the hands of a process that has
 * died since: the bell takes it for being worked, and another ring with the same epoch for the same. So it gets a new one.
 *
 * While all hands are full, a row that waits says nothing about the bell: it is rung once and left to wait.
 */
export function decide({ ring, rung, now, free, isFirstLook }: DueRow, pace: Patience): Decision {
  if (rung === undefined) return isFirstLook ? 'raise' : 'ring';
  if (free > 0 && isUnanswered(rung, now, pace)) return 'work';
  if (rung.epoch !== ring.epoch) return 'ring'; // Another process raised it, and may have died before it rang.
  const silence = now - rung.lastAt;
  if (!rung.sent) return silence >= pace.lookMs ? 'ring' : 'wait';
  return free > 0 && silence >= pace.ringAgainMs ? 'raise' : 'wait';
}

function isUnanswered({ sent, times, firstAt }: Rung, now: number, pace: Patience): boolean {
  return times >= 2 && now - firstAt >= (sent ? pace.workHereMs : pace.unsentMs);
}

/** The memory of a row that has just been rung. */
export function noteRing(
  rung: Rung | undefined,
  { epoch, now, sent }: { readonly epoch: number; readonly now: number; readonly sent: boolean },
): Rung {
  return { epoch, firstAt: rung?.firstAt ?? now, lastAt: now, sent, times: (rung?.times ?? 0) + 1 };
}

/** The memory of a row that is worked without the bell: should it still be due afterwards, all begins anew. */
export function noteWork(rung: Rung, now: number): Rung {
  return { ...rung, firstAt: now, lastAt: now, times: 1 };
}
