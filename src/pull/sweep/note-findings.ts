import { presenceDrift } from '../../diff/field-drift.ts';
import { readListShape, saveDrift, saveListShape } from '../../mirror/kinds/drift-store.ts';
import type { Drift, ListShape } from '../../mirror/kinds/drift-store.ts';
import { saveVanished } from '../../mirror/kinds/field-store.ts';
import type { KnownField } from '../../mirror/kinds/field-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import type { Sweep } from '../run/sweep.ts';
import type { Tally } from '../land/tally.ts';
import { saveListIssue } from '../../mirror/records/issue-store.ts';
import type { ListIssue } from '../../mirror/records/issue-store.ts';
import type { Certification } from '../../diff/certify.ts';
import type { Concluded } from '../deletions/conclude-absences.ts';
import { MOST_CONTROL_FAILURES } from '../../diff/plan-deletions.ts';

/** Notes drift in the service's answers: fields that appeared or vanished, and changes of envelope and paging. */
export async function noteDrift(
  tx: Transaction,
  { kind, lease, hasHoles: hadHoles }: Sweep,
  tally: Tally,
  { fieldsBefore, now }: { readonly fieldsBefore: ReadonlyMap<string, KnownField>; readonly now: Date },
): Promise<void> {
  const drifts = presenceDrift(fieldsBefore, tally.fields);
  const fieldsWith = (wanted: string) =>
    drifts.filter(({ code }) => code === wanted).map(({ field }) => field);
  await saveVanished(tx, kind.name, { fields: fieldsWith('vanished_field'), since: now });
  await saveVanished(tx, kind.name, { fields: fieldsWith('returned_field'), since: null });
  const before = await readListShape(tx, kind.name);
  const shape = tally.shape();
  await saveListShape(tx, kind.name, shape);
  if (tally.hasHoles() && !hadHoles) await saveDrift(tx, [{ kind: kind.name, ...HOLES }], now);
  if (lease.completeSweeps === 0) return; // The first reading is the baseline for later ones.
  const ofFields = drifts.map((drift) => ({ kind: kind.name, ...drift }));
  await saveDrift(tx, [...ofFields, ...reshaped(kind.name, before, shape)], now);
}

const HOLES = {
  code: 'holes',
  field: null,
  detail: 'a short page had others with rows after it: this list is read to an empty page from now on',
} as const;

function reshaped(kind: string, before: ListShape, shape: ListShape): Drift[] {
  return (['envelope', 'pageSize'] as const).flatMap((part): Drift[] => {
    if (before[part] === shape[part]) return [];
    const detail = `was ${before[part] ?? 'unknown'}, now ${shape[part] ?? 'unknown'}`;
    return [{ kind, code: part === 'envelope' ? 'envelope' : 'page_size', field: null, detail }];
  });
}

/** Opens the issues of a whole list, and closes those that no longer hold. */
export async function noteListIssues(
  tx: Transaction,
  kind: string,
  verdict: Certification,
  findings: {
    readonly concluded: Concluded;
    readonly standing: { readonly certifiedAt: string | null; readonly baselineAt: string | null };
    readonly now: Date;
  },
): Promise<void> {
  const { concluded, standing, now } = findings;
  const isUncertified = standing.baselineAt !== null && standing.certifiedAt === null;
  const hasTooMany = !verdict.certified && verdict.reason === 'too_many_rows';
  const details: Record<ListIssue, string | null> = {
    baseline_uncertified: isUncertified ? 'three complete sweeps could not tell the list exactly' : null,
    too_many_rows: hasTooMany ? verdict.detail : null,
    retrieve_unusable:
      concluded.controlFailures >= MOST_CONTROL_FAILURES
        ? 'a record that the list shows could not be read by its own path in three sweeps'
        : null,
  };
  for (const [code, detail] of Object.entries(details))
    await saveListIssue(tx, kind, { code: code as ListIssue, detail, now });
}
