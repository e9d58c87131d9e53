import { sql } from 'drizzle-orm';
import type { Queryable, Row } from './session.ts';

/** One row of `bi_sync_status`. */
export type KindStatus = Row;

export async function readStatus(db: Queryable): Promise<KindStatus[]> {
  return db.query(sql`select * from bi_sync_status`);
}

export interface IssueCount {
  readonly kind: string;
  readonly field: string | null;
  readonly code: string;
  readonly count: number;
}

/** Open issues by kind, field and code, the most frequent first. */
export async function countIssues(db: Queryable): Promise<IssueCount[]> {
  const rows = await db.query(sql`
    select kind, field, code, count(*) as count from issues where closed_at is null
    group by kind, field, code order by count(*) desc, kind, field, code`);
  return rows.map((row) => ({
    kind: String(row['kind']),
    field: row['field'] === null ? null : String(row['field']),
    code: String(row['code']),
    count: Number(row['count']),
  }));
}

/** True where a kind has more than `few` live rows; reads no more of the table than that. */
export async function hasMoreLive(db: Queryable, table: string, few: number): Promise<boolean> {
  const some = await db.query(sql`
    select 1 from ${sql.identifier(table)} where _deleted_at is null limit ${few + 1}`);
  return some.length > few;
}
