import { sql } from 'drizzle-orm';
import type { Queryable } from '../session/session.ts';

const IDS_A_QUERY = 10_000;
const SMALLEST_ID = String(-(2n ** 63n));

/**
 * Yields the ids of all live rows of a kind, thousands at a time as one comma-separated text.
 *
 * Ids come from the index of the primary key: checking `_deleted_at` of each row would read the whole table. Tombstones,
 * which are few, are read first and left out.
 */
export async function* liveIds(db: Queryable, kind: string): AsyncGenerator<string> {
  const table = sql.identifier(kind);
  const dead = await tombstoned(db, kind);
  for (let after: string | null = SMALLEST_ID; after !== null;) {
    const from: string = after;
    const [row] = await db.query(sql`
      select string_agg(cast(id as text), ',') as ids, cast(max(id) as text) as last, count(*) as count
      from (select k.id from ${table} as k where k.id > ${from} order by k.id limit ${IDS_A_QUERY}) as chunk`);
    const ids = typeof row?.['ids'] === 'string' ? row['ids'] : '';
    yield dead.size === 0 ? ids : without(ids, dead);
    after = Number(row?.['count']) < IDS_A_QUERY ? null : String(row?.['last']);
  }
}

async function tombstoned(db: Queryable, kind: string): Promise<ReadonlySet<string>> {
  const rows = await db.query(sql`
    select cast(id as text) as id from ${sql.identifier(kind)} where _deleted_at is not null`);
  return new Set(rows.map(({ id }) => String(id)));
}

function without(ids: string, dead: ReadonlySet<string>): string {
  const live = ids.split(',').filter((id) => !dead.has(id));
  return live.join(',');
}
