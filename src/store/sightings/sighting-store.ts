import { sql } from 'drizzle-orm';
import { inSlices } from '../../db/rows/slices.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { CHANGES } from '../tables/change-tables.ts';
import { KIND_STATE, SIGHTINGS } from '../tables/engine-tables.ts';
import { omitColumns, pickColumns, readNumber, readTexts, select, type RowOf } from '../../db/rows/rows.ts';
import type { Sighting } from '../../diff/certify.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { sqlList } from '../../db/session/sql-list.ts';

/** A response as certification uses it, with the instant at which its request was sent. */
export type TimedSighting = Sighting & { readonly seenAt: string };

const SWEEPS_KEPT = 3;
const READ_TOGETHER = 500;

const SEEN_PAGE = omitColumns(SIGHTINGS, 'kind', 'runId');

/**
 * Every kept sighting of a kind, in the order of answers.
 * @param pages The last known ids of each page: most pages show the same ids again, which then share one text.
 */
export async function readSightings(
  db: Queryable,
  kind: string,
  pages: ReadonlyMap<number, Pick<Sighting, 'ids'>> = new Map(),
): Promise<TimedSighting[]> {
  const seen: TimedSighting[] = [];
  const shown = new Map<number, string>();
  for (const [page, { ids }] of pages) shown.set(page, ids);
  const readNext = (after: number) =>
    select(
      db,
      SEEN_PAGE,
      sql`where kind = ${kind} and answered > ${after} order by answered limit ${READ_TOGETHER}`,
    );
  for await (const rows of inSlices(READ_TOGETHER, readNext, -1, (row) => row.answered))
    for (const row of rows) {
      const before = shown.get(row.page);
      const ids = before === row.ids ? before : row.ids;
      shown.set(row.page, ids);
      seen.push({ ...row, ids });
    }
  return seen;
}

/** An invalid sweep proves no end of the list; its sightings stay true. */
export async function clearEnds(tx: Transaction, kind: string, sweep: number): Promise<void> {
  await tx.query(sql`update sightings set end_rows = null where kind = ${kind} and sweep = ${sweep}`);
}

/** The tick up to which sightings are to be removed, those before the last three sweeps; null if there are none. */
export async function findOldSightingsTick(db: Queryable, kind: string): Promise<number | null> {
  const oldest = sql`
    select min(sweep) from (
      select distinct sweep from sightings where kind = ${kind} and sweep is not null
      order by sweep desc limit ${SWEEPS_KEPT}) as kept`;
  return readNumber(db, oldest);
}

/** Removes the sightings of a kind up to a tick. */
export async function pruneSightings(tx: Transaction, kind: string, oldest: number): Promise<void> {
  await tx.query(sql`delete from sightings where kind = ${kind} and answered <= ${oldest}`);
}

/** Stores those of these ids that have a live row: the rows are ours, although soon no kept list response shows them. */
export async function saveUnlisted(tx: Transaction, kind: string, ids: readonly string[]): Promise<void> {
  for (const some of inChunks(ids))
    await tx.query(sql`
      insert into unlisted_rows (kind, record_id)
      select ${kind}, cast(k.id as text) from ${sql.identifier(kind)} as k
      where k.id in (${sqlList(some)}) and k._deleted_at is null
      on conflict do nothing`);
}

/** Removes ids that a list shows again, or whose rows have become tombstones. */
export async function forgetUnlisted(tx: Transaction, kind: string, ids: readonly string[]): Promise<void> {
  for (const some of inChunks(ids))
    await tx.query(sql`delete from unlisted_rows where kind = ${kind} and record_id in (${sqlList(some)})`);
}

export async function readUnlisted(db: Queryable, kind: string): Promise<string[]> {
  return readTexts(db, sql`select record_id from unlisted_rows where kind = ${kind}`);
}

const WATCHED_KIND = pickColumns(KIND_STATE, 'kind', 'lastCompleteSweep', 'pageSize');

/** The facts of a kind's list. */
export type WatchedKind = RowOf<typeof WATCHED_KIND>;

/** The kinds whose list was read to its end, and that have a baseline: a record new in such a list is new to the service. */
export const readWatchedKinds = (db: Queryable): Promise<WatchedKind[]> => {
  const isWatched = sql`baseline_at is not null and last_complete_sweep is not null`;
  return select(db, WATCHED_KIND, sql`where ${isWatched} order by kind`);
};

/** The rows that the list responses of a sweep have shown. */
export const readSweepRows = (db: Queryable, kind: string, sweep: number): Promise<number | null> =>
  readNumber(db, sql`select sum(rows) from sightings where kind = ${kind} and sweep = ${sweep}`);

const PAGE_SIGHTING = pickColumns(SIGHTINGS, 'page', 'ids', 'rows', 'total', 'answered', 'seenAt');

/** A page as a list response has shown it. */
export type PageSighting = RowOf<typeof PAGE_SIGHTING>;

/** The list responses that came after a tick, in the order of answers. */
export const readPagesSince = (db: Queryable, kind: string, tick: number): Promise<PageSighting[]> =>
  select(db, PAGE_SIGHTING, sql`where kind = ${kind} and answered > ${tick} order by answered`);

const NOTED_CHANGE = pickColumns(CHANGES, 'seq', 'kind', 'recordId', 'change', 'observedAt', 'origin');

/** A change event, as far as it is counted. */
export type NotedChange = RowOf<typeof NOTED_CHANGE>;

/** The latest events after one, in their order, and no more than `most`. */
export async function readChangesSince(db: Queryable, seq: number, most: number): Promise<NotedChange[]> {
  const oldest = sql`(select coalesce(max(seq), 0) - ${most} from changes)`;
  return select(db, NOTED_CHANGE, sql`where seq > ${seq} and seq > ${oldest} order by seq`);
}

/** The kinds with a create that waits to be found. */
export const readAwaitedKinds = (db: Queryable): Promise<string[]> =>
  readTexts(db, sql`select distinct kind from outbox where operation = 'create' and state = 'unsettled'`);
