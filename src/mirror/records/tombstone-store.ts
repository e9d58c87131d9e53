import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import { appendChanges } from './change-store.ts';
import { saveProofs } from './deletion-store.ts';
import type { Proof } from './deletion-store.ts';
import { closeIssuesOf } from './issue-store.ts';
import type { Queryable, SqlValue, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';
import { saveDirtyRows } from './dirty-row-store.ts';
import { forgetUnlisted } from '../sightings/unlisted-store.ts';

/** Records whose rows become tombstones. */
export interface TombstoneBatch {
  readonly kind: string;
  /** At most a few hundred: they go into one statement. */
  readonly ids: readonly string[];
  readonly proof: Proof;
  /** The tick at which the records were known to be gone; a row written since is left alone. */
  readonly response: number;
  readonly runId: number;
  readonly now: Date;
}

/**
 * Marks rows as deleted and appends one event each; their content stays. Returns the ids of the rows that were unchanged
 * since `response`.
 */
export async function writeTombstones(
  tx: Transaction,
  { kind, ids, proof, response, runId, now }: TombstoneBatch,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const at = instantText(now);
  const rows = await tx.query(sql`
    update ${sql.identifier(kind)} set _deleted_at = ${at}, _changed_at = ${at}, _response = ${response}
    where id in (${sqlList(ids)}) and _deleted_at is null and _response < ${response}
    returning cast(id as text) as id, _raw`);
  const deleted = rows.map((row) => String(row['id']));
  if (deleted.length === 0) return [];
  const lastSeen = await saveProofs(tx, kind, { ids: deleted, proof, now });
  await closeIssuesOf(tx, kind, { ids: deleted, now });
  await saveDirtyRows(tx, kind, { ids: deleted, response });
  await forgetUnlisted(tx, kind, deleted);
  const events = rows.map((row) => {
    const [recordId, before] = [String(row['id']), String(row['_raw'])];
    const observedFrom = lastSeen.get(recordId) ?? null;
    return { recordId, change: 'deleted' as const, before, after: null, fields: '{}', observedFrom };
  });
  await appendChanges(tx, { kind, events, origin: 'service', runId, now });
  return deleted;
}

export interface LiveRow {
  readonly id: string;
  readonly response: SqlValue;
  readonly changedAt: string;
}

const ROWS_A_QUERY = 5_000;
const IDS_A_QUERY = 500;

/** Yields all live rows of a kind in the order of their ids. */
export async function* liveRows(db: Queryable, kind: string): AsyncGenerator<LiveRow[]> {
  for (let after: string | null = '0'; after !== null;) {
    const from: string = after;
    const rows = await db.query(sql`
      select cast(id as text) as id, _response, _changed_at from ${sql.identifier(kind)} as k
      where k.id > ${from} and _deleted_at is null order by k.id limit ${ROWS_A_QUERY}`);
    yield rows.map(liveRow);
    after = rows.length < ROWS_A_QUERY ? null : String(rows.at(-1)?.['id']);
  }
}

/** Those of these ids whose rows are live. */
export async function liveRowsOf(db: Queryable, kind: string, ids: readonly string[]): Promise<LiveRow[]> {
  const found: LiveRow[] = [];
  for (let from = 0; from < ids.length; from += IDS_A_QUERY) {
    const rows = await db.query(sql`
      select cast(id as text) as id, _response, _changed_at from ${sql.identifier(kind)} as k
      where k.id in (${sqlList(ids.slice(from, from + IDS_A_QUERY))}) and _deleted_at is null`);
    found.push(...rows.map(liveRow));
  }
  return found;
}

function liveRow(row: Record<string, SqlValue>): LiveRow {
  return {
    id: String(row['id']),
    response: row['_response'] ?? null,
    changedAt: String(row['_changed_at']),
  };
}
