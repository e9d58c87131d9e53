import type { Tally } from '../land/tally.ts';
import type { Sweep } from '../state/sweep.ts';

/** A backfill under way. */
export interface BackfillWork {
  readonly sweep: Sweep;
  readonly tally: Tally;
  /** Progress of an interrupted run of the same request: a page number, or a number of ids. */
  readonly done: number;
  readonly missing: string[];
}
