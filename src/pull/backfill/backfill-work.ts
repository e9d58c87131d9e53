import type { Tally } from '../land/tally.ts';
import type { Sweep } from '../state/sweep.ts';

/** A backfill under way. */
export interface BackfillWork {
  readonly sweep: Sweep;
  readonly tally: Tally;
  /** How far an interrupted run of the same request came: a page, or how many of the ids. */
  readonly done: number;
  readonly missing: string[];
}
