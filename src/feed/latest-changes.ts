import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Queryable } from '../mirror/session/session.ts';
import { recordedChange } from './read-changes.ts';
import type { RecordedChange } from './read-changes.ts';

interface LatestWanted {
  /** Only events before this `seq`. */
  readonly before?: number | undefined;
  readonly kind?: string | undefined;
  /** Only events of this record of the kind. */
  readonly recordId?: string | undefined;
  readonly limit: number;
}

/** Events that are looked through for those of a kind before its index is asked. */
const NEAR = 2_000;

/** Reads the latest events before a `seq`, the newest first: a page at any place of the log costs the same. */
export async function latestChanges(db: Queryable, wanted: LatestWanted): Promise<RecordedChange[]> {
  const { before = Number.MAX_SAFE_INTEGER, kind, recordId, limit } = wanted;
  const read = async (condition: SQL): Promise<RecordedChange[]> => {
    const rows = await db.query(sql`
      select * from changes where seq < ${before} and ${condition} order by seq desc limit ${limit}`);
    return rows.map(recordedChange);
  };
  if (kind === undefined) return read(sql`1 = 1`);
  const latest = sql`select min(seq) from (
    select seq from changes where seq < ${before} order by seq desc limit ${NEAR}) near`;
  const near = recordId === undefined ? await read(sql`kind = ${kind} and seq >= (${latest})`) : [];
  if (near.length === limit) return near;
  const isOne = recordId === undefined ? sql`` : sql` and record_id = ${recordId}`;
  // `-seq` keeps a database from walking through all events of the other kinds.
  return read(sql`seq in (
    select seq from changes where kind = ${kind}${isOne} and seq < ${before} order by -seq limit ${limit})`);
}

/** Reads one event; null if there is none, or it was removed. */
export async function findChange(db: Queryable, seq: number): Promise<RecordedChange | null> {
  const [row] = await db.query(sql`select * from changes where seq = ${seq}`);
  return row === undefined ? null : recordedChange(row);
}
