import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { ERASURES } from '../tables/change-tables.ts';
import type { ErasedRecord, TableOwner } from './table-owner.ts';
import { isWithoutRow, type RecordTraces } from './record-traces.ts';
import { insertRows, readRows, readTexts } from '../../db/rows/rows.ts';

/** The ids of a kind's records that are kept out of the mirror. */
export async function readSuppressed(db: Queryable, kind: string): Promise<ReadonlySet<string>> {
  const ids = sql`select record_id from erasures where kind = ${kind} and suppressed = 1`;
  return new Set(await readTexts(db, ids));
}

/** How many records of each kind are kept out. */
export async function countSuppressed(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const counts = sql`
    select kind, count(distinct record_id) as records from erasures where suppressed = 1 group by kind`;
  const rows = await readRows(db, { kind: String, records: Number }, counts);
  return new Map(rows.map(({ kind, records }) => [kind, records]));
}

/** Whether this record is kept out of the mirror. */
export async function isSuppressed(db: Queryable, kind: string, recordId: string | null): Promise<boolean> {
  return recordId !== null && (await readSuppressed(db, kind)).has(recordId);
}

/** Notes that a record was erased: the only trace of who did it. */
export async function saveErasure(
  tx: Transaction,
  erasure: { kind: string; id: string; by: string; isSuppressed: boolean; now: Date },
): Promise<void> {
  const { kind, id: recordId, by: erasedBy, now } = erasure;
  const suppressed = erasure.isSuppressed ? 1 : 0;
  await insertRows(tx, ERASURES, [{ kind, recordId, erasedAt: formatInstant(now), erasedBy, suppressed }]);
}

/**
 * Removes the content of a record from events, issues, the outbox, plans and deliveries, and from all texts that have it without
 * naming the record. The rows stay: they record that something happened, and keep their numbers in order.
 * @param left The record's text from now on: `{"id":17}`. @param owners Of further tables. @returns How many rows of the engine's tables lost content of it.
 */
export async function eraseTraces(
  tx: Transaction,
  record: ErasedRecord,
  left: string,
  owners: readonly TableOwner[],
) {
  const { kind, id, hasContent } = record;
  const isOfRecord = sql`kind = ${kind} and record_id = ${id}`;
  const count = async (statement: SQL): Promise<number> => (await tx.query(statement)).length;
  const entries = record.entries.map((entry) => entry.id);
  const ofEntries = entries.length === 0 ? sql`1 = 0` : sql`outbox_id in (${sqlList(entries)})`;
  for (const owner of owners) await owner.erase?.(tx, record);
  await eraseTexts(tx, hasContent, textsOf(kind));
  // Earlier releases quoted the beginning of an answer that could not be read.
  await tx.query(
    sql`update run_kinds set detail = null where kind = ${kind} and state in ('invalid', 'aborted')`,
  );
  return {
    events: await count(sql`
      update changes set before = case when before is not null then ${left} end,
        after = case when after is not null then ${left} end, fields = '{}'
      where ${isOfRecord} returning seq`),
    issues: await count(sql`update issues set detail = null where ${isOfRecord} returning id`),
    entries: await eraseEntries(tx, record, entries),
    attempts: await count(sql`
      update outbox_attempts set request = '', response_start = null where ${ofEntries} returning n`),
    deliveries: await eraseDeliveries(tx, isOfRecord),
  };
}

/** Keys stay: without them a repeated request would be sent again. Without the hash, it is refused as another request. */
async function eraseEntries(tx: Transaction, key: ErasedRecord, entries: readonly string[]): Promise<number> {
  if (entries.length > 0)
    await tx.query(sql`
      update outbox set payload = '{}', base = null, preimage = null, result = null, settlement = null, natural_key = null
      where id in (${sqlList(entries)})`);
  const ended = sql`
    update outbox_keys set request_hash = '', base_hash = null where kind = ${key.kind} and record_id = ${key.id}
    returning outbox_id`;
  return entries.length + (await tx.query(ended)).length;
}

const FORGOTTEN = '(forgotten)';

/** A column of texts, and its rows that may have content of a record. */
interface TextPlace {
  readonly table: string;
  readonly name: string;
  readonly where: SQL;
}

/** Texts of the service that need not name the record that they are about. */
function textsOf(kind: string): readonly TextPlace[] {
  const isOfKind = sql`kind = ${kind}`;
  return [
    { table: 'issues', name: 'detail', where: sql`${isOfKind} and ${isWithoutRow(kind)}` },
    { table: 'drift', name: 'detail', where: sql`${isOfKind} and code = 'untracked_fields'` },
    { table: 'webhook_deliveries', name: 'response_start', where: sql`response_start is not null` },
  ];
}

/** Empties the texts that have content of a record. */
export async function eraseTexts(
  tx: Transaction,
  hasContent: RecordTraces['hasContent'],
  places: readonly TextPlace[],
): Promise<void> {
  for (const { table, name, where } of places) {
    const column = sql.identifier(name);
    const texts = sql`
      select cast(id as text) as id, coalesce(${column}, '') as content from ${sql.identifier(table)} where ${where}`;
    for (const { id, content } of await readRows(tx, { id: String, content: String }, texts))
      if (await hasContent(content))
        await tx.query(sql`update ${sql.identifier(table)} set ${column} = ${FORGOTTEN} where id = ${id}`);
  }
}

/** Deliveries with a body of their own cannot be sent without it; the others are made from the event. */
async function eraseDeliveries(tx: Transaction, isOfRecord: SQL): Promise<number> {
  const erased = sql`
    update webhook_deliveries set response_start = null,
      state = case when body is not null and state in ('ready', 'waiting') then 'dropped' else state end, body = null
    where ${isOfRecord} returning id`;
  return (await tx.query(erased)).length;
}
