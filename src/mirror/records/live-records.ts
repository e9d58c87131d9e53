import { sql } from 'drizzle-orm';
import type { Queryable } from '../session/session.ts';

/** A live row of a kind: its id and the record as compact JSON. */
interface LiveRecord {
  readonly id: string;
  readonly raw: string;
}

const AT_ONCE = 1000;

/** Yields all live records of a kind in the order of their ids, in batches. */
export async function* liveRecords(db: Queryable, kind: string): AsyncGenerator<LiveRecord> {
  let after = '0';
  for (;;) {
    const rows = await db.query(sql`
      select id, _raw from ${sql.identifier(kind)} where _deleted_at is null and id > ${after} order by id limit ${AT_ONCE}`);
    for (const row of rows) yield { id: String(row['id']), raw: String(row['_raw']) };
    if (rows.length < AT_ONCE) return;
    after = String(rows.at(-1)?.['id']);
  }
}
