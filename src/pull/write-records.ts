import { fieldChanges } from '../diff/change-event.ts';
import type { ChangeEvent } from '../diff/change-event.ts';
import { decodeRecord } from '../diff/decode-record.ts';
import { valueDrift } from '../diff/field-drift.ts';
import { observeFields } from '../diff/observe-fields.ts';
import { instantText } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { appendChanges } from '../mirror/change-store.ts';
import { forgetAbsences } from '../mirror/deletion-store.ts';
import { saveDrift } from '../mirror/drift-store.ts';
import { saveFields } from '../mirror/field-store.ts';
import { saveFieldIssues } from '../mirror/issue-store.ts';
import type { Issue } from '../mirror/issue-store.ts';
import { writtenColumns } from '../mirror/kind-table.ts';
import { dropPagesAfter } from '../mirror/page-store.ts';
import type { SqlValue, Transaction } from '../mirror/session.ts';
import { saveTouches } from '../mirror/touch-store.ts';
import type { Compared, Shown } from './land-records.ts';
import type { Sweep } from './sweep.ts';

export interface News extends Shown {
  readonly news: readonly Compared[];
}

/** Writes new and different records: their rows, change events, issues and new fields. */
export async function writeRecords(tx: Transaction, sweep: Sweep, shown: News): Promise<void> {
  const { kind, runId, touched, newest } = sweep;
  const { news, answered, now } = shown;
  const found: Issue[] = [];
  const values = news.map((record) => rowOf(sweep, shown, { record, found }));
  await tx.putRows({ table: kind.name, columns: writtenColumns(kind), rows: values });
  await saveFieldIssues(tx, { kind: kind.name, recordIds: news.map(({ id }) => id), found, now });

  const rewritten = news.filter(({ stored }) => stored !== undefined).map(({ id }) => id);
  await saveTouches(tx, kind.name, { ids: rewritten, response: answered });
  touched.add(new Map(rewritten.map((id) => [id, answered])));
  // Pages that were asked for after this answer had come, and landed before it: they may have shown what is newer.
  if (rewritten.length > 0 && newest.sent > answered) await dropPagesAfter(tx, kind.name, answered);
  const returned = news.filter(({ verdict }) => verdict.is === 'restored').map(({ id }) => id);
  await forgetAbsences(tx, kind.name, returned);

  const events = news.flatMap((record) => eventOf(sweep, record));
  await appendChanges(tx, { kind: kind.name, events, origin: 'service', runId, now });
  await landFields(tx, sweep, { records: news.map(({ record }) => record), now });
}

function rowOf(
  { kind }: Sweep,
  { answered, isListed, now }: News,
  { record: { id, raw, record, stored }, found }: { readonly record: Compared; readonly found: Issue[] },
): SqlValue[] {
  const decoded = decodeRecord(kind, record);
  found.push(...decoded.misfits.map((misfit) => ({ recordId: id, ...misfit })));
  const at = instantText(now);
  const listed = stored?.listed ?? (isListed ? answered : null);
  return [...decoded.values, raw, stored?.firstSeenAt ?? at, at, null, answered, listed];
}

/** A record that is new to the mirror is new to the service only where the mirror has had the whole list before. */
function eventOf(
  { lease: { certifiedAt, baselineAt }, ignoredFields }: Sweep,
  { id, raw, record, stored, verdict }: Compared,
): ChangeEvent[] {
  const event = { recordId: id, before: null, after: raw, fields: '{}', observedFrom: certifiedAt };
  if (verdict.is === 'created') return baselineAt === null ? [] : [{ ...event, change: 'created' }];
  if (verdict.is === 'restored') return [{ ...event, change: 'restored' }];
  if (verdict.is !== 'changed' || stored === undefined) return [];
  const names = verdict.fields.filter((name) => !ignoredFields.has(name));
  if (names.length === 0) return [];
  const fields = fieldChanges(names, verdict.before, record);
  return [{ ...event, change: 'updated', before: stored.raw, fields }];
}

/** Notes fields that came for the first time, or as another type; the first reading is what later ones differ from. */
async function landFields(
  tx: Transaction,
  { kind, lease, fields }: Sweep,
  { records, now }: { readonly records: readonly JsonObject[]; readonly now: Date },
): Promise<void> {
  const seen = observeFields(kind, fields, records);
  await saveFields(tx, kind, { fields: seen, now });
  const drifts = lease.completeSweeps === 0 ? [] : valueDrift(fields, seen);
  await saveDrift(
    tx,
    drifts.map((drift) => ({ kind: kind.name, ...drift })),
    now,
  );
  for (const [field, shown] of seen) fields.set(field, shown);
}
