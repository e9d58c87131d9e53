import { sql } from 'drizzle-orm';
import type { Change } from '../../diff/change-event.ts';
import type { Queryable, Row } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/** A change event of a record, with the content after it. */
interface KeptEvent {
  readonly change: Change;
  readonly observedAt: string;
  readonly after: string | null;
}

/** Facts about a record from the engine's tables, without sightings. */
export interface RecordBooks {
  readonly firstEvent: KeptEvent | null;
  readonly lastEvent: KeptEvent | null;
  /** When its deletion was concluded; null if no conclusion is kept. */
  readonly goneAt: string | null;
  /** True if it is in `unlisted_rows`, or an entry of the outbox created it. */
  readonly isNoted: boolean;
  /** True if an entry of the outbox concerns it. */
  readonly isInOutbox: boolean;
  /** True if an open or closed issue says that it could not become a row. */
  readonly isQuarantined: boolean;
}

const IDS_A_QUERY = 500;

/** Reads the facts about some records; every id has an entry in the map. */
export async function readBooks(
  db: Queryable,
  kind: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RecordBooks>> {
  const books = new Map<string, RecordBooks>();
  for (let from = 0; from < ids.length; from += IDS_A_QUERY)
    await readSome(db, { kind, ids: ids.slice(from, from + IDS_A_QUERY) }, books);
  return books;
}

async function readSome(
  db: Queryable,
  { kind, ids }: { readonly kind: string; readonly ids: readonly string[] },
  books: Map<string, RecordBooks>,
): Promise<void> {
  const isOne = sql`kind = ${kind} and record_id in (${sqlList(ids)})`;
  const idsIn = async (statement: ReturnType<typeof sql>): Promise<ReadonlySet<string>> =>
    new Set((await db.query(statement)).map((row) => String(row['record_id'])));
  const events = await db.query(sql`
    select record_id, change, observed_at, after from changes where seq in (
      select min(seq) from changes where ${isOne} group by record_id
      union select max(seq) from changes where ${isOne} group by record_id)
    order by seq desc`);
  const gone = await db.query(sql`
    select record_id, concluded_at from deletions where ${isOne} and concluded_at is not null`);
  const noted = await idsIn(sql`
    select record_id from unlisted_rows where ${isOne} union select record_id from links where ${isOne}`);
  const inOutbox = await idsIn(sql`select distinct record_id from outbox where ${isOne}`);
  const quarantined = await idsIn(sql`
    select distinct record_id from issues where ${isOne} and code in ('two_versions', 'too_deep')`);
  const goneAt = new Map(gone.map((row) => [String(row['record_id']), String(row['concluded_at'])]));
  for (const id of ids) {
    const own = events.filter((row) => row['record_id'] === id).map(keptEvent);
    books.set(id, {
      lastEvent: own.at(0) ?? null,
      firstEvent: own.at(-1) ?? null,
      goneAt: goneAt.get(id) ?? null,
      isNoted: noted.has(id),
      isInOutbox: inOutbox.has(id),
      isQuarantined: quarantined.has(id),
    });
  }
}

function keptEvent(row: Row): KeptEvent {
  const after = row['after'] ?? null;
  return {
    change: String(row['change']) as Change,
    observedAt: String(row['observed_at']),
    after: after === null ? null : String(after),
  };
}
