import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

const IDS_A_QUERY = 500;

/** Stores those of these ids that have a live row: the rows are ours, although soon no kept list response shows them. */
export async function saveUnlisted(tx: Transaction, kind: string, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += IDS_A_QUERY) {
    const some = sqlList(ids.slice(from, from + IDS_A_QUERY));
    await tx.query(sql`
      insert into unlisted_rows (kind, record_id)
      select ${kind}, cast(k.id as text) from ${sql.identifier(kind)} as k
      where k.id in (${some}) and k._deleted_at is null
      on conflict do nothing`);
  }
}

/** Removes ids that a list shows again, or whose rows have become tombstones. */
export async function forgetUnlisted(tx: Transaction, kind: string, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += IDS_A_QUERY)
    await tx.query(sql`
      delete from unlisted_rows
      where kind = ${kind} and record_id in (${sqlList(ids.slice(from, from + IDS_A_QUERY))})`);
}

export async function readUnlisted(db: Queryable, kind: string): Promise<string[]> {
  const rows = await db.query(sql`select record_id from unlisted_rows where kind = ${kind}`);
  return rows.map((row) => String(row['record_id']));
}
