import { sql } from 'drizzle-orm';
import type { Queryable } from '../session/session.ts';

/** The page of a kind's list that last showed a record; null if none is stored. */
export async function readPageOf(db: Queryable, kind: string, id: string): Promise<number | null> {
  const listed = `%,${id},%`;
  const [row] = await db.query(sql`
    select page from pages
    where kind = ${kind} and replace(replace(ids, '[', ','), ']', ',') like ${listed} order by page limit 1`);
  return row === undefined ? null : Number(row['page']);
}
