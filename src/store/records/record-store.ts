import { sql, type SQL } from 'drizzle-orm';
import { wasDeletedSince } from '../outbox/attempts-and-links.ts';
import type { Queryable, Row } from '../../db/session/session.ts';
import { hasRow, orNull, readRow, readRows, readTexts, type RowOf } from '../../db/rows/rows.ts';
import { batchesById } from '../../db/rows/slices.ts';

const RECORD = { id: String, raw: String, firstSeenAt: String, changedAt: String, deletedAt: orNull(String) };

/** A record in the mirror: its JSON text, every number as received, and when it was deleted; null = live. */
export type MirroredRecord = RowOf<typeof RECORD>;

/** Reads the first records of a kind that meet a condition, in the order of their ids, deleted ones too. */
export const listRecords = (db: Queryable, kind: string, condition: SQL, limit: number) =>
  readRows(
    db,
    RECORD,
    sql`select cast(k.id as text) as id, _raw as raw, _first_seen_at as first_seen_at, _changed_at as changed_at,
        _deleted_at as deleted_at
      from ${sql.identifier(kind)} k where ${condition} order by k.id limit ${limit}`,
  );

export const findRecord = async (db: Queryable, kind: string, id: string): Promise<MirroredRecord | null> =>
  (await listRecords(db, kind, sql`k.id = ${id}`, 1))[0] ?? null;

/** The first records after an id. */
export const recordsAfter = (
  db: Queryable,
  kind: string,
  { after = '0', limit }: { after?: string | undefined; limit: number },
): Promise<MirroredRecord[]> => listRecords(db, kind, sql`k.id > ${after}`, limit);

/** A live row of a kind: its id and the record as compact JSON. */
const LIVE_RECORD = { id: String, raw: String };
export type LiveRecord = RowOf<typeof LIVE_RECORD>;

/** Yields these columns of all live records of a kind, in batches. */
export async function* liveColumns(db: Queryable, kind: string, columns: readonly string[]) {
  const names = columns.map((name) => sql`, k.${sql.identifier(name)}`);
  yield* batchesById(ROWS_A_QUERY, async (after) => {
    const rows = await db.query(sql`
      select cast(k.id as text) as record_id${sql.join(names)} from ${sql.identifier(kind)} as k
      where k._deleted_at is null and k.id > ${after} order by k.id limit ${ROWS_A_QUERY}`);
    return rows.map((row): Row & { readonly id: string } => ({ ...row, id: String(row['record_id']) }));
  });
}

const ROWS_A_QUERY = 5_000;

/** The live records of a kind, `k` in the condition. */
export const liveRecordsWhere = (db: Queryable, kind: string, condition: SQL): Promise<LiveRecord[]> =>
  readRows(
    db,
    LIVE_RECORD,
    sql`select cast(k.id as text) as id, k._raw as raw from ${sql.identifier(kind)} as k
      where k._deleted_at is null and ${condition}`,
  );

const IDS_A_QUERY = 10_000;

const ID_CHUNK = { ids: orNull(String), last: orNull(String), count: Number };
const SMALLEST_ID = String(-(2n ** 63n));

/**
 * Yields the ids of all live rows of a kind, thousands at a time as one comma-separated text. Ids come from the index of the
 * primary key: checking `_deleted_at` of each row would read the whole table. Tombstones, which are few, are read beside the
 * first ids and left out.
 */
export async function* liveIds(db: Queryable, kind: string): AsyncGenerator<string> {
  const table = sql.identifier(kind);
  const tombstones = sql`select cast(id as text) from ${table} where _deleted_at is not null`;
  const idsAfter = (after: string): SQL => sql`
    select string_agg(cast(id as text), ',') as ids, cast(max(id) as text) as last, count(*) as count
    from (select k.id from ${table} as k where k.id > ${after} order by k.id limit ${IDS_A_QUERY}) as chunk`;
  const [tombstoneIds, first] = await Promise.all([
    readTexts(db, tombstones),
    readRow(db, ID_CHUNK, idsAfter(SMALLEST_ID)),
  ]);
  const deletedIds = new Set(tombstoneIds);
  for (let chunk: typeof first = first; chunk !== null;) {
    const { last, count } = chunk;
    const ids = chunk.ids ?? '';
    yield deletedIds.size === 0
      ? ids
      : ids
          .split(',')
          .filter((id) => !deletedIds.has(id))
          .join(',');
    chunk = count < IDS_A_QUERY || last === null ? null : await readRow(db, ID_CHUNK, idsAfter(last));
  }
}

/** The mirror's state before a send: what it showed by then is not new. */
export interface Watermark {
  readonly tick: number;
  readonly at: string;
  /** The number of the last change event; null where no send was noted. */
  readonly seq: number | null;
  /** Whose token had read the list last, by a digest; null where that is unknown. */
  readonly holder: string | null;
}

/** Live records that appeared or returned after a watermark, without records that an outbox entry is known to have made. */
export async function possibleMatchesSince(db: Queryable, kind: string, since: Watermark) {
  const { tick, at } = since;
  const isSeen = sql`(k._listed > ${tick} or (k._listed is null and k._first_seen_at >= ${at}))`;
  return liveRecordsWhere(db, kind, sql`${isSeen} and ${isUnexplained(kind)} order by k.id`);
}

/** Whether no entry is known to have made the record `k`. */
const isUnexplained = (kind: string): SQL => sql`
  not exists (
    select 1 from links as l where l.kind = ${kind} and l.record_id = cast(k.id as text)
      and not ${wasDeletedSince(sql`l.linked_at`)})`;

/**
 * Live records that were first seen since an instant and that no entry is known to have made. An index finds what changed since:
 * in the order of ids, SQLite would read the whole table.
 */
export const newRecordsSince = (db: Queryable, kind: string, since: string): Promise<LiveRecord[]> =>
  liveRecordsWhere(
    db,
    kind,
    sql`k._changed_at >= ${since} and k._first_seen_at >= ${since} and ${isUnexplained(kind)} order by k._changed_at`,
  );

const REWRITTEN = { id: String, raw: String, before: String };

/** A live record that others have changed, with its content before. */
export type Rewritten = RowOf<typeof REWRITTEN>;

/** Live records that others have changed after a watermark: the id of one may have come to belong to another record. */
export async function rewrittenSince(db: Queryable, kind: string, watermark: Watermark) {
  if (watermark.seq === null) return [];
  const rewritten = sql`
    select cast(k.id as text) as id, k._raw as raw, c.before as before
    from changes as c join ${sql.identifier(kind)} as k on k.id = cast(c.record_id as bigint)
    where c.seq > ${watermark.seq} and c.kind = ${kind} and c.change = 'updated' and c.origin = 'service'
      and k._deleted_at is null order by c.seq`;
  return readRows(db, REWRITTEN, rewritten);
}

const CONTENT = { before: orNull(String), after: orNull(String) };

/** The contents that the events after a watermark show of a record: somebody may have changed it since it appeared. */
export async function contentsSince(db: Queryable, kind: string, id: string, watermark: Watermark) {
  if (watermark.seq === null) return [];
  const shown = sql`
    select case when change = 'updated' then before end as before, after
    from changes where kind = ${kind} and record_id = ${id} and seq > ${watermark.seq} order by seq`;
  const contents = (await readRows(db, CONTENT, shown)).flatMap((row) => [row.before, row.after]);
  return contents.filter((content) => content !== null);
}

/** Whether a record was live at a watermark. */
export async function wasLiveAt(db: Queryable, kind: string, watermark: Watermark & { readonly id: string }) {
  const seen = sql`
    select 1 from ${sql.identifier(kind)} as k
    where k.id = ${watermark.id} and (k._listed <= ${watermark.tick} or (k._listed is null and k._first_seen_at < ${watermark.at}))
      and (k._deleted_at is null or k._deleted_at >= ${watermark.at})`;
  return hasRow(db, seen);
}

/** Whether more than so many live records have a text in a column, in whatever case. */
export async function isSharedByMoreThan(
  db: Queryable,
  kind: string,
  { column, text, most }: { column: string; text: string; most: number },
): Promise<boolean> {
  const sharing = sql`
    select 1 from ${sql.identifier(kind)}
    where _deleted_at is null and lower(${sql.identifier(column)}) = lower(${text}) limit ${most + 1}`;
  return (await db.query(sharing)).length > most;
}

/** Whether another record of the kind, live or deleted, has a text in a column; of a nested table, `owner` is `parent_id`. */
export function isShownByOther(
  db: Queryable,
  kind: string,
  { id, owner = 'id', column, text }: { id: string; owner?: string; column: string; text: string },
): Promise<boolean> {
  const same = sql`${sql.identifier(column)} = ${text} and ${sql.identifier(owner)} <> ${id}`;
  return hasRow(db, sql`select 1 from ${sql.identifier(kind)} where ${same} limit 1`);
}

/** Whether a kind has so many records, live or deleted. */
export const hasRows = async (db: Queryable, kind: string, count: number): Promise<boolean> =>
  (await db.query(sql`select 1 from ${sql.identifier(kind)} limit ${count}`)).length >= count;

/** Whether a list has shown, since an instant, a record that could not become a row. */
export async function hasQuarantinedSince(db: Queryable, kind: string, at: string): Promise<boolean> {
  const quarantined = sql`
    select 1 from issues where kind = ${kind} and closed_at is null and field is null
      and code in ('no_id', 'id_not_an_integer', 'id_too_large', 'too_deep', 'two_versions') and first_seen_at >= ${at}
    limit 1`;
  return hasRow(db, quarantined);
}
