import type { KindReport } from '../../mirror/runs/run-store.ts';
import type { Ending } from './read-list.ts';
import type { WithoutRow } from './return-rows.ts';
import type { Concluded } from '../deletions/conclude-absences.ts';

interface MirrorBeside {
  readonly concluded: Pick<Concluded, 'waiting'>;
  readonly without: WithoutRow;
  /** Rows that another writer had changed, and that are repaired. */
  readonly mended: number;
}

type Outcome = Pick<KindReport, 'state' | 'reason' | 'detail'>;

/** How a sweep ended: certified only where the list is known exactly and the mirror's live rows are exactly that list. */
export function outcomeOf(ending: Ending, beside: MirrorBeside): Outcome {
  const { state, reason, detail } = ending;
  if (ending.state !== 'complete' || !ending.verdict.isOfThisSweep) return { state, reason, detail };
  const { concluded, without, mended } = beside;
  const complete = (why: string, what: string): Outcome => ({ state: 'complete', reason: why, detail: what });
  if (without.missing > 0)
    return complete(
      'rows_missing',
      `${without.missing} records of the list have no live row; the next pull tries again`,
    );
  if (without.quarantined > 0)
    return complete('quarantined', `no row could be made of ${without.quarantined} records of the list`);
  if (concluded.waiting > 0)
    return complete(
      'absences_unproven',
      `${concluded.waiting} rows that the list lacks wait for proof, or for a person`,
    );
  const told = mended > 0 ? `${mended} rows that something else had written to were put right` : null;
  return { state: 'certified', reason: null, detail: told };
}
