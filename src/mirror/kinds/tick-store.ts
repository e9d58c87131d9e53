import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../session/session.ts';
import { readNumber } from '../tables/rows.ts';

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
