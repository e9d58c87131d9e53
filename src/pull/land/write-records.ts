import { setImmediate as breathe } from 'node:timers/promises';
import { boundFields, MOST_FIELDS } from '../../diff/bound-fields.ts';
import { valueDrift } from '../../diff/field-drift.ts';
import { observeFields } from '../../diff/observe-fields.ts';
import type { JsonObject } from '../../lib/json.ts';
import { shortened, storable } from '../../lib/text.ts';
import { hasDrift, saveDrift } from '../../mirror/kinds/drift-store.ts';
import { saveFields } from '../../mirror/kinds/field-store.ts';
import { dropPagesAfter } from '../../mirror/sightings/page-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import type { Judged } from '../../mirror/records/stored-rows.ts';
import { writeRows } from '../../mirror/records/write-rows.ts';
import type { Shown } from './land-records.ts';
import type { Sweep } from '../state/sweep.ts';

export interface News extends Omit<Shown, 'records'> {
  readonly records: readonly Judged[];
}

/** Writes new and different records, and learns from them what the rest of the sweep must know. */
export async function writeRecords(
  tx: Transaction,
  sweep: Sweep,
  { records, isListed, answered, now }: News,
): Promise<void> {
  const { kind, runId, touched, newest, lease, ignoredFields } = sweep;
  const rewritten = await writeRows(tx, {
    ...{ kind, records, response: answered, isListed, now },
    ...{ origin: 'service', runId, standing: lease, ignoredFields },
  });
  touched.add(new Map(rewritten.map((id) => [id, answered])));
  // Pages that were asked for after this answer had come, and landed before it: they may have shown what is newer.
  if (rewritten.length > 0 && newest.sent > answered) await dropPagesAfter(tx, kind.name, answered);
  await breathe();
  await landFields(tx, sweep, { records: records.map(({ record }) => record), now });
}

/** Notes fields that came for the first time, or as another type; the first reading is what later ones differ from. */
async function landFields(
  tx: Transaction,
  { kind, lease, fields }: Sweep,
  { records, now }: { readonly records: readonly JsonObject[]; readonly now: Date },
): Promise<void> {
  const { records: bounded, untracked } = boundFields(kind, fields, records);
  if (untracked.size > 0) await noteUntracked(tx, kind.name, { untracked, now });
  const seen = observeFields(kind, fields, bounded);
  await saveFields(tx, kind, { fields: seen, now });
  const drifts = lease.completeSweeps === 0 ? [] : valueDrift(fields, seen);
  await saveDrift(
    tx,
    drifts.map((drift) => ({ kind: kind.name, ...drift })),
    now,
  );
  for (const [field, shown] of seen) fields.set(field, shown);
}

const [EXAMPLES, LONGEST_EXAMPLE] = [3, 40];

/** Notes once that a kind has more field names than are tracked. */
async function noteUntracked(
  tx: Transaction,
  kind: string,
  { untracked, now }: { readonly untracked: ReadonlySet<string>; readonly now: Date },
): Promise<void> {
  const drift = { kind, code: 'untracked_fields', field: null } as const;
  if (await hasDrift(tx, drift)) return;
  const examples = [...untracked]
    .slice(0, EXAMPLES)
    .map((name) => storable(shortened(name, LONGEST_EXAMPLE)));
  const detail = `${untracked.size} further names were sent at once, such as ${examples.join(', ')}; ${MOST_FIELDS} are tracked, the values of others stay in _raw`;
  await saveDrift(tx, [{ ...drift, detail }], now);
}
