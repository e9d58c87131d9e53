import { sql, type SQL } from 'drizzle-orm';
import { parseInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { KIND_STATE, RUN_KINDS } from '../tables/engine-tables.ts';
import { pickColumns, readNumber, select, selectOne, type RowOf } from '../../db/rows/rows.ts';
import { readMetaJson } from './meta.ts';

const TIMES = ['certifiedAt', 'baselineAt', 'lastSweepAt'] as const;
const STANDING = pickColumns(KIND_STATE, ...TIMES, 'controlFailures', 'knownFrom');

/** How much the mirror knows of a kind's list, and since when; instants are texts, null = never. */
type KindStanding = RowOf<typeof STANDING>;

const NEVER = { certifiedAt: null, baselineAt: null, lastSweepAt: null, controlFailures: 0, knownFrom: 0 };

export async function readStanding(db: Queryable, kind: string): Promise<KindStanding> {
  return (await selectOne(db, STANDING, sql`where kind = ${kind}`)) ?? NEVER;
}

/** One reading of a kind's list that has ended, by the run that it was part of. */
export type ReportedReading = typeof RUN_KINDS.$inferSelect;

/** What is concluded from. */
export type Reading = Pick<
  ReportedReading,
  'runId' | 'reason' | 'rows' | 'certifiedAt' | 'startedAt' | 'durationMs'
> & {
  readonly state: string;
};

const readingsOf = (db: Queryable, kind: string, rest: SQL): Promise<ReportedReading[]> => {
  const ofPulls = sql`run_id in (select id from runs where command = 'pull')`; // A backfill reads a part.
  return select(db, RUN_KINDS, sql`where kind = ${kind} and ${ofPulls} ${rest}`);
};

/** The latest readings of a kind's list, newest first. */
export const latestReadings = (db: Queryable, kind: string, limit: number): Promise<ReportedReading[]> =>
  readingsOf(db, kind, sql`order by run_id desc limit ${limit}`);

/** The sweeps of a kind that were asked for with a run or later, oldest first. */
export const readingsSince = (db: Queryable, kind: string, runId: number): Promise<Reading[]> =>
  readingsOf(db, kind, sql`and run_id >= ${runId} order by run_id`);

const NEVER_LATER = '9999-12-31 00:00:00.000';

/** The latest sweep of a kind that has ended, and began before an instant. One that found the kind being read by another process is none. */
export async function lastReading(db: Queryable, kind: string, before = NEVER_LATER) {
  const latest = sql`and state <> 'busy' and started_at < ${before} order by run_id desc limit 1`;
  return (await readingsOf(db, kind, latest))[0] ?? null;
}

export const endedMs = ({ startedAt, durationMs }: Reading): number =>
  parseInstant(startedAt).getTime() + durationMs;

/** More ticks than any sweep takes between two landings. */
const TICK_JUMP = 1_000_000;

/**
 * Takes a tick for an event outside a sweep, later than every request that was sent until now. A running sweep counts in memory
 * and learns of the new tick only when it lands next. So the counter jumps far ahead: every request that the sweep makes until
 * then counts as older than this event.
 */
export async function jumpTick(tx: Transaction, kind: string): Promise<number> {
  const leap = sql`
    insert into kind_state (kind, tick, state, complete_sweeps, epoch) values (${kind}, ${TICK_JUMP}, 'never', 0, 0)
    on conflict (kind) do update set tick = kind_state.tick + ${TICK_JUMP} returning tick`;
  return (await readNumber(tx, leap)) ?? TICK_JUMP;
}

/**
 * A tick below every later answer of a list; 0 if nothing was ever requested. A running sweep that has not learned of a jump
 * yet counts on from the last answer that it landed.
 */
export async function readTick(db: Queryable, kind: string): Promise<number> {
  const tick = sql`
    select case when owner is null then tick
      else (select max(answered) from sightings where sightings.kind = kind_state.kind) end as tick
    from kind_state where kind = ${kind}`;
  return (await readNumber(db, tick)) ?? 0;
}

/** Whose token has read a kind's list to its end last, by a digest; null = nobody's. */
export async function readListHolder(db: Queryable, kind: string): Promise<string | null> {
  const holders = (await readMetaJson(db, `holders.${kind}`)) as
    readonly { readonly holder: string }[] | null;
  return holders?.at(-1)?.holder ?? null;
}
