import { saveListIssue } from '../../mirror/records/issue-store.ts';
import type { ListIssue } from '../../mirror/records/issue-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import type { KindStanding } from '../../mirror/kinds/kind-standing.ts';
import type { Ending } from './read-list.ts';
import type { Concluded } from '../deletions/conclude-absences.ts';
import type { Sweep } from '../state/sweep.ts';
import { MOST_CONTROL_FAILURES } from '../deletions/way-to-ask.ts';

/** The part of a kind's standing that the end of a sweep decides; null = not yet. */
export type StandingAfter = Pick<KindStanding, 'certifiedAt' | 'baselineAt'>;

interface ListFindings {
  readonly ending: Ending;
  readonly concluded: Concluded;
  readonly standing: StandingAfter;
  readonly now: Date;
}

/** Opens the issues of a whole list, and closes those that no longer hold. */
export async function noteListIssues(
  tx: Transaction,
  { kind }: Sweep,
  findings: ListFindings,
): Promise<void> {
  for (const [code, detail] of Object.entries(detailsOf(findings)))
    await saveListIssue(tx, kind.name, { code: code as ListIssue, detail, now: findings.now });
}

/** The text of each issue; null = no issue. */
function detailsOf({ ending, concluded, standing }: ListFindings): Record<ListIssue, string | null> {
  const isUncertified = standing.baselineAt !== null && standing.certifiedAt === null;
  const verdict = ending.state === 'complete' ? ending.verdict.verdict : null;
  const hasTooMany = verdict?.certified === false && verdict.reason === 'too_many_rows';
  return {
    baseline_uncertified: isUncertified ? 'three complete sweeps could not tell the list exactly' : null,
    too_many_rows: hasTooMany ? verdict.detail : null,
    retrieve_unusable:
      concluded.controlFailures >= MOST_CONTROL_FAILURES
        ? 'a record that the list shows could not be read by its own path in three sweeps'
        : null,
  };
}
