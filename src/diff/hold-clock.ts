import type { DeletionDecision } from './decide-deletions.ts';

/** Since when records of a kind are held, without a day on which none was. */
export interface HoldClock {
  readonly since: Date;
  readonly records: number;
  /** Why they are held together, where this sweep has decided it. */
  readonly rule?: string | undefined;
}

/** The clock of a hold after a sweep. */
export function nextHold(
  before: HoldClock | null,
  { records, rule }: DeletionDecision['held'],
  now: Date,
): HoldClock | null {
  if (records === 0) return null;
  return before?.records === records ? before : { since: before?.since ?? now, records, rule };
}
