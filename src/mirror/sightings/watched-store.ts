import { sql } from 'drizzle-orm';
import type { Queryable } from '../../db/session/session.ts';
import { CHANGES } from '../tables/change-tables.ts';
import { KIND_STATE, SIGHTINGS } from '../tables/engine-tables.ts';
import { pick, readNumber, readTexts, select } from '../../db/rows/rows.ts';
import type { RowOf } from '../../db/rows/rows.ts';

const WATCHED_KIND = pick(KIND_STATE, 'kind', 'tick', 'last_complete_sweep', 'page_size');

/** The facts of a kind's list. */
export type WatchedKind = RowOf<typeof WATCHED_KIND>;

/** The kinds whose list was read to its end, and that have a baseline: a record new in such a list is new to the service. */
export const readWatchedKinds = (db: Queryable): Promise<WatchedKind[]> =>
  select(
    db,
    WATCHED_KIND,
    sql`where baseline_at is not null and last_complete_sweep is not null order by kind`,
  );

const PAGE_SIGHTING = pick(SIGHTINGS, 'page', 'ids', 'total', 'answered', 'seen_at');

/** A page as a list response has shown it. */
export type PageSighting = RowOf<typeof PAGE_SIGHTING>;

/** The list responses of one sweep, in the order of answers; null if they show more rows than `most`. */
export async function readSweepPages(
  db: Queryable,
  kind: string,
  sweep: number,
  most: number,
): Promise<PageSighting[] | null> {
  const ofSweep = sql`where kind = ${kind} and sweep = ${sweep}`;
  const rows = await readNumber(db, sql`select sum(rows) from sightings ${ofSweep}`);
  if ((rows ?? 0) > most) return null;
  return select(db, PAGE_SIGHTING, sql`${ofSweep} order by answered`);
}

/** The list responses that came after a tick, in the order of answers. */
export const readPagesSince = (db: Queryable, kind: string, tick: number): Promise<PageSighting[]> =>
  select(db, PAGE_SIGHTING, sql`where kind = ${kind} and answered > ${tick} order by answered`);

const NOTED_CHANGE = pick(CHANGES, 'seq', 'kind', 'record_id', 'change', 'observed_at', 'origin');

/** A change event, as far as it is counted. */
export type NotedChange = RowOf<typeof NOTED_CHANGE>;

/** The latest events after one, in their order, and no more than `most`. */
export async function readChangesSince(db: Queryable, seq: number, most: number): Promise<NotedChange[]> {
  const oldest = sql`(select coalesce(max(seq), 0) - ${most} from changes)`;
  return select(db, NOTED_CHANGE, sql`where seq > ${seq} and seq > ${oldest} order by seq`);
}

/** The kinds in which a create of ours waits to be found. */
export const readAwaitedKinds = (db: Queryable): Promise<string[]> =>
  readTexts(db, sql`select distinct kind from outbox where operation = 'create' and state = 'unsettled'`);
