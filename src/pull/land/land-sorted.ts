import type { Quarantined, SortedPage } from '../../diff/judge-page.ts';
import { issueKey, saveQuarantined } from '../../mirror/records/issue-store.ts';
import type { Issue } from '../../mirror/records/issue-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { landRecords } from './land-records.ts';
import type { Landed, Shown } from './land-records.ts';
import type { Sweep } from '../state/sweep.ts';

/** What became of records, by id, and of those that no row could be made of, by the keys of their issues. */
export interface LandedSorted extends Landed {
  readonly quarantined: readonly string[];
}

/** Lands what one response showed within a transaction: rows for the records, issues for what cannot become one. */
export async function landSorted(
  tx: Transaction,
  sweep: Sweep,
  { incoming, quarantined, ...shown }: SortedPage & Omit<Shown, 'records'>,
): Promise<LandedSorted> {
  const issues = quarantined.map(quarantineIssue);
  const fresh = issues.filter((issue) => !sweep.quarantined.has(issueKey(issue)));
  await saveQuarantined(tx, sweep.kind.name, { issues: fresh, now: shown.now });
  for (const issue of fresh) sweep.quarantined.add(issueKey(issue));
  const landed = await landRecords(tx, sweep, { ...shown, records: incoming });
  return { ...landed, quarantined: issues.map(issueKey) };
}

function quarantineIssue({ id, code, raw }: Quarantined): Issue {
  return { recordId: id, field: null, code, detail: raw };
}
