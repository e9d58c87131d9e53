import { firstSeqSince, latestSeq } from '../store/records/change-store.ts';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql, type SQL } from 'drizzle-orm';
import type { Queryable } from '../db/session/session.ts';
import { sqlList } from '../db/session/sql-list.ts';
import { asOfInstant } from '../lib/time/as-of-instant.ts';
import { UsageError } from '../lib/sync-error.ts';
import { formatInstant } from '../lib/time/clock.ts';
import { entryOf, keysOf } from '../store/outbox/outbox-store.ts';
import { CHANGES } from '../store/tables/change-tables.ts';
import { countUpTo, omitColumns, readNumber, select, type RowOf } from '../db/rows/rows.ts';

const EVENT = omitColumns(CHANGES, 'recordNumber');

/**
 * One event of the table `changes`. `seq` is the reader's cursor: a reader that has read up to n never gets an event ≤ n afterwards.
 *
 * It happened no earlier than `observedFrom` (null = unknown) and no later than `observedAt`, when it was found out. `before`
 * and `after` are the record as JSON text, numbers as received; null = it was not there. `fields` is `{name: [old, new]}`, and
 * `origin` is `service`, or `outbox:<id>` for changes written by bms-sync itself.
 */
export type RecordedChange = RowOf<typeof EVENT>;

/** An event with the key under which the caller of its entry pushed; null if it has none, or the record was forgotten. */
export type KeyedChange = RecordedChange & { readonly key: string | null };

/**
 * Writes the members of an event as JSON. The record's own JSON is inserted as stored: parsing it and writing it again could alter its
 * numbers and the order of its keys.
 */
export function eventJson(head: object, { before, after, fields }: RecordedChange, end: object): string {
  const content = `"before":${before ?? 'null'},"after":${after ?? 'null'},"fields":${fields}`;
  return `${JSON.stringify(head).slice(0, -1)},${content},${JSON.stringify(end).slice(1)}`;
}

interface EventsWanted {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly kind?: string | undefined;
  /** Only events of the record with this id. */
  readonly recordId?: string | undefined;
}

/** The condition of the events between two others. */
export function eventsWhere({ after = 0, before = Number.MAX_SAFE_INTEGER, kind, recordId }: EventsWanted) {
  const ofRecord = recordId === undefined ? sql`` : sql` and record_id = ${recordId}`;
  return sql`seq > ${after} and seq < ${before}${kindFilter(kind)}${ofRecord}`;
}

/** Reads the first events between two others, in the order of `seq`. */
export async function readChanges(
  db: Queryable,
  { limit, ...wanted }: EventsWanted & { readonly limit: number },
): Promise<KeyedChange[]> {
  return withKeys(db, await select(db, EVENT, sql`where ${eventsWhere(wanted)} order by seq limit ${limit}`));
}

async function withKeys(db: Queryable, changes: readonly RecordedChange[]): Promise<KeyedChange[]> {
  const keys = await keysOf(db, [...new Set(changes.flatMap(({ origin }) => entryOf(origin) ?? []))]);
  return changes.map((change) => ({ ...change, key: keys.get(entryOf(change.origin) ?? 0) ?? null }));
}

const PAGE = 500;

/** Hands out all events after a `seq` and up to another, a page at a time; ends early where the signal is aborted. */
export async function* streamChanges(
  db: Queryable,
  { after, upTo, kind }: { readonly after: number; readonly upTo: number; readonly kind: string | undefined },
  signal?: AbortSignal,
): AsyncGenerator<KeyedChange> {
  for (let from = after; from < upTo && !signal?.aborted;) {
    const page = await readChanges(db, { after: from, before: upTo + 1, kind, limit: PAGE });
    yield* page;
    from = page.length < PAGE ? upTo : (page.at(-1)?.seq ?? upTo);
    await yieldToEventLoop(); // Lets a signal abort before the next page is read.
  }
}

/** Reads the events with these numbers; one that was removed is left out. */
export async function readChangesBySeq(db: Queryable, seqs: readonly number[]): Promise<KeyedChange[]> {
  if (seqs.length === 0) return [];
  return withKeys(db, await select(db, EVENT, sql`where seq in (${sqlList(seqs)})`));
}

export const countChanges = (db: Queryable, wanted: EventsWanted): Promise<number> =>
  countUpTo(db, sql`changes where ${eventsWhere(wanted)}`);

/** The events that filters ask for: of some days, the first and the last included, those after one `seq` and before another. */
export async function eventsOf(
  db: Queryable,
  { kind, record, from, to }: Partial<Record<'kind' | 'record' | 'from' | 'to', string | undefined>>,
  now: Date,
  timezone: string,
) {
  const firstSince = (at: Date): Promise<number> => firstSeqSince(db, formatInstant(at));
  const begin = from === undefined ? null : asOfInstant(from, now, timezone).begin;
  const end = to === undefined ? null : asOfInstant(to, now, timezone).at;
  if (begin !== null && end !== null && begin > end)
    throw new UsageError(`${from ?? ''} is after ${to ?? ''}.`, {
      code: 'usage.days',
      hint: 'Write the earlier day first.',
    });
  const after = begin === null ? 0 : (await firstSince(begin)) - 1;
  const before = end === null ? Number.MAX_SAFE_INTEGER : await firstSince(new Date(end.getTime() + 1));
  return { after, before, kind, recordId: record };
}

/** The latest events that are searched for events of a kind before its index is used. */
const RECENT_EVENTS = 2_000;

/** Reads the latest events between two others, the newest first: a page at any place of the log costs the same. */
export async function readLatestChanges(
  db: Queryable,
  { limit, ...wanted }: EventsWanted & { readonly limit: number },
): Promise<RecordedChange[]> {
  const where = eventsWhere(wanted);
  const read = (condition: SQL): Promise<RecordedChange[]> =>
    select(db, EVENT, sql`where ${condition} order by seq desc limit ${limit}`);
  if (wanted.kind === undefined) return read(where);
  const latest = sql`select min(seq) from (
    select seq from changes where seq < ${wanted.before ?? Number.MAX_SAFE_INTEGER} order by seq desc limit ${RECENT_EVENTS}) near`;
  const recent = wanted.recordId === undefined ? await read(sql`${where} and seq >= (${latest})`) : [];
  if (recent.length === limit) return recent;
  // `-seq` keeps a database from walking through all events of the other kinds.
  return read(sql`seq in (select seq from changes where ${where} order by -seq limit ${limit})`);
}

/** The `seq` after which the latest `count` events (of a kind) lie. */
export async function seqBeforeLatest(db: Queryable, kind: string | undefined, count: number) {
  const latest = sql`select seq from changes where seq > 0${kindFilter(kind)} order by seq desc limit ${count}`;
  const first = await readNumber(db, sql`select min(seq) from (${latest}) latest`);
  return first === null ? latestSeq(db) : first - 1;
}

const kindFilter = (kind: string | undefined): SQL => (kind === undefined ? sql`` : sql` and kind = ${kind}`);
