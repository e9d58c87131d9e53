import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import { pick, readNumber, selectOne } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

const STANDING = pick(
  KIND_STATE,
  ...([
    'tick',
    'certified_at',
    'baseline_at',
    'last_sweep_at',
    'complete_sweeps',
    'control_failures',
  ] as const),
);

/** How much the mirror knows of a kind's list, and since when; instants are texts, null = never. */
export interface KindStanding extends RowOf<typeof STANDING> {
  /** The number of consecutive sweeps in which a record known to exist could not be retrieved. */
  readonly controlFailures: number;
}

export async function readStanding(db: Queryable, kind: string): Promise<KindStanding> {
  const row = await selectOne(db, STANDING, sql`where kind = ${kind}`);
  return row === null ? NEVER_READ : { ...row, controlFailures: row.controlFailures ?? 0 };
}

const NEVER_READ: KindStanding = {
  tick: 0,
  certifiedAt: null,
  baselineAt: null,
  lastSweepAt: null,
  completeSweeps: 0,
  controlFailures: 0,
};

/** How many sweeps that began at an instant or later have read the whole list of a kind. */
export async function countCompleteSweeps(db: Queryable, kind: string, since: Date): Promise<number> {
  const sweeps = sql`
    select count(*) from run_kinds as k join runs as r on r.id = k.run_id
    where k.kind = ${kind} and k.state in ('certified', 'complete') and k.started_at >= ${instantText(since)}
      and r.command = 'pull'`;
  return (await readNumber(db, sweeps)) ?? 0;
}

/** Notes that a write of ours has changed a record of a kind; sweeps note their changes as they end. */
export async function noteOwnChange(tx: Transaction, kind: string, now: Date): Promise<void> {
  await tx.query(sql`update kind_state set last_change_at = ${instantText(now)} where kind = ${kind}`);
}

/** More ticks than any sweep takes between two landings. */
const LEAP = 1_000_000;

/**
 * Takes a tick for an event outside a sweep, later than every request that was sent until now.
 *
 * A running sweep counts in memory and learns of the new tick only when it lands next. So the counter jumps far ahead: every
 * request that the sweep makes until then counts as older than this event.
 */
export async function leapTick(tx: Transaction, kind: string): Promise<number> {
  const leap = sql`
    insert into kind_state (kind, tick, state, complete_sweeps, epoch) values (${kind}, ${LEAP}, 'never', 0, 0)
    on conflict (kind) do update set tick = kind_state.tick + ${LEAP} returning tick`;
  return (await readNumber(tx, leap)) ?? LEAP;
}

/**
 * A tick below every later answer of a list; 0 if nothing was ever requested.
 *
 * A running sweep that has not learned of a jump yet counts on from the last answer that it landed.
 */
export async function readTick(db: Queryable, kind: string): Promise<number> {
  const tick = sql`
    select case when owner is null then tick
      else (select max(answered) from sightings where sightings.kind = kind_state.kind) end as tick
    from kind_state where kind = ${kind}`;
  return (await readNumber(db, tick)) ?? 0;
}
