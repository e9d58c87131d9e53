import { sql } from 'drizzle-orm';
import { instantOf, instantText } from '../../lib/time/clock.ts';
import type { Queryable } from '../session/session.ts';
import { CHANGES } from '../tables/change-tables.ts';
import { optionalBigint } from '../tables/engine-column.ts';
import { pick, readNumber, readRow, selectOne } from '../tables/rows.ts';

/** How large the table `changes` is and how fast it grows: an estimate that costs a few look-ups at any size. */
export interface ChangeLogSize {
  readonly events: number;
  /** Bytes of the events' contents, without indexes. */
  readonly bytes: number;
  /** Over the last seven days or since the first event. */
  readonly eventsPerDay: number;
  readonly bytesPerDay: number;
}

const DAY_MS = 86_400_000;
const SAMPLE = 200;

/** Estimates from the numbers of the events, which rise without large gaps, and from the size of the latest ones. */
export async function readChangeLogSize(db: Queryable, now: Date): Promise<ChangeLogSize> {
  const range = await readRange(db);
  if (range === null) return { events: 0, bytes: 0, eventsPerDay: 0, bytesPerDay: 0 };
  const bytesEach = await meanBytes(db);
  const weekAgo = now.getTime() - 7 * DAY_MS;
  const recent = await firstWithin(db, range, instantText(new Date(weekAgo)));
  const oldest = (await eventFrom(db, range.first))?.at ?? now;
  const days = Math.max(1, (now.getTime() - Math.max(weekAgo, oldest.getTime())) / DAY_MS);
  const events = range.last - range.first + 1;
  const eventsPerDay = Math.round((range.last - recent + 1) / days);
  return {
    events,
    bytes: Math.round(events * bytesEach),
    eventsPerDay,
    bytesPerDay: Math.round(eventsPerDay * bytesEach),
  };
}

interface EventRange {
  readonly first: number;
  readonly last: number;
}

async function readRange(db: Queryable): Promise<EventRange | null> {
  const range = sql`select min(seq) as first, max(seq) as last from changes`;
  const row = await readRow(db, [optionalBigint('first'), optionalBigint('last')], range);
  return row === null || row.first === null || row.last === null
    ? null
    : { first: row.first, last: row.last };
}

async function meanBytes(db: Queryable): Promise<number> {
  const mean = sql`
    select avg(length(coalesce(before, '')) + length(coalesce(after, '')) + length(fields) + 100)
    from (select before, after, fields from changes order by seq desc limit ${SAMPLE}) latest`;
  return (await readNumber(db, mean)) ?? 0;
}

/** The `seq` of the first event at or after an instant; one more than the latest where there is none. */
export async function firstSeqSince(db: Queryable, instant: string): Promise<number> {
  const range = await readRange(db);
  return range === null ? 1 : firstWithin(db, range, instant);
}

/** Finds the first event at or after an instant by bisection: `observed_at` never falls as `seq` rises. */
async function firstWithin(db: Queryable, { first, last }: EventRange, instant: string): Promise<number> {
  let [low, high] = [first, last + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const event = await eventFrom(db, middle);
    if (event !== null && instantText(event.at) < instant) low = event.seq + 1;
    else high = middle;
  }
  return low;
}

async function eventFrom(
  db: Queryable,
  seq: number,
): Promise<{ readonly seq: number; readonly at: Date } | null> {
  const row = await selectOne(
    db,
    pick(CHANGES, 'seq', 'observed_at'),
    sql`where seq >= ${seq} order by seq limit 1`,
  );
  return row === null ? null : { seq: row.seq, at: instantOf(row.observedAt) };
}
