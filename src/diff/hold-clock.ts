import type { DeletionDecision, DeletionRules } from './decide-deletions.ts';

/** Since when the same records of a kind are held without any contrary evidence. */
export interface HoldClock {
  readonly since: Date;
  readonly records: number;
  /** Why they are held together, where this sweep has decided it. */
  readonly rule?: string | undefined;
}

/**
 * The clock of a hold after a sweep: it restarts if the set of held records has changed, or if the list may have been cut off:
 * then it misses the same records for ever, and time proves nothing.
 */
export function nextHold(
  before: HoldClock | null,
  held: DeletionDecision['held'],
  canBeCutOff: boolean,
  now: Date,
): HoldClock | null {
  const records = held.ids.length;
  if (records === 0) return null;
  const isContinued = before !== null && held.isSame && before.records === records && !canBeCutOff;
  return isContinued ? before : { since: now, records, rule: held.rule };
}

/** Whether a hold has lasted long enough to end by itself; never if a person must decide. */
export function isOverdue(clock: HoldClock, now: Date, rules: DeletionRules): boolean {
  const hours = rules.releaseHeldAfterHours;
  return typeof hours === 'number' && now.getTime() - clock.since.getTime() >= hours * 3_600_000;
}
