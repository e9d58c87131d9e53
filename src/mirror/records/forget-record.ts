import { sql } from 'drizzle-orm';
import { LosslessNumber } from 'lossless-json';
import type { Kind } from '../../catalog/kind.ts';
import { instantText } from '../../lib/time/clock.ts';
import { compactJson, parseObject } from '../../lib/json/json.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { asMirrored } from '../kinds/field-store.ts';
import { leapTick } from '../kinds/tick-store.ts';
import type { Transaction } from '../session/session.ts';
import { eraseTraces, saveErasure } from './erasure-store.ts';
import type { ErasedTraces } from './erasure-store.ts';
import { readStored, writeRows } from './stored-rows.ts';
import type { StoredRow } from './stored-rows.ts';

interface Forgetting {
  readonly kind: Kind;
  readonly id: string;
  /** Keeps the record out of the mirror from now on. */
  readonly suppress: boolean;
  readonly by: string;
  readonly now: Date;
}

/** How a record stands before it is forgotten. */
export type RecordStanding = 'live' | 'deleted' | 'absent';

export interface Forgotten extends ErasedTraces {
  readonly row: boolean;
}

/** Tells whether the mirror has a record live, as a tombstone, or not at all. */
export async function recordStanding(tx: Transaction, kind: Kind, id: string): Promise<RecordStanding> {
  const row = (await readStored(tx, kind, [id])).get(id);
  if (row === undefined) return 'absent';
  return row.isDeleted ? 'deleted' : 'live';
}

/**
 * Removes the content of a record from the mirror, in one transaction: a tombstone with the id stays, and a note of the
 * erasure. No answer that was requested before can land the record again.
 */
export async function forgetRecord(tx: Transaction, forgetting: Forgetting): Promise<Forgotten> {
  const { kind, id, suppress, by, now } = forgetting;
  const key = { kind: kind.name, id };
  const row = (await readStored(tx, kind, [id])).get(id);
  const left = { id: (row === undefined ? null : parseObject(row.raw)['id']) ?? new LosslessNumber(id) };
  if (row !== undefined) await emptyRow(tx, forgetting, { stored: row, left });
  await tx.query(sql`
    delete from deletions where kind = ${kind.name} and record_id = ${id} and concluded_at is null`);
  const traces = await eraseTraces(tx, key, compactJson(left));
  await saveErasure(tx, { ...key, by, isSuppressed: suppress, now });
  return { row: row !== undefined, ...traces };
}

/** Writes the row as that of a record with nothing but its id, as landing would: columns, twins and nested tables follow. */
async function emptyRow(
  tx: Transaction,
  { kind, id, now }: Forgetting,
  { stored, left: record }: { readonly stored: StoredRow; readonly left: JsonObject },
): Promise<void> {
  const raw = compactJson(record);
  await writeRows(tx, {
    kind: await asMirrored(tx, kind),
    records: [{ id, raw, record, stored, verdict: { is: 'unchanged' } }],
    ...{ response: await leapTick(tx, kind.name), isListed: false, origin: 'service', runId: null, now },
    standing: { certifiedAt: null, baselineAt: null },
    ignoredFields: new Set(),
  });
  const deletedAt = stored.deletedAt ?? instantText(now);
  await tx.query(sql`update ${sql.identifier(kind.name)} set _deleted_at = ${deletedAt} where id = ${id}`);
}
