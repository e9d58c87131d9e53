import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../session/session.ts';

/** More ticks than any sweep takes between two landings. */
const LEAP = 1_000_000;

/**
 * Takes a tick for something that happened outside a sweep, later than every request that was sent until now.
 *
 * A sweep under way counts in memory and learns of it when it lands next: the counter leaps, so that whatever the sweep
 * asks for until then counts as asked for before.
 */
export async function leapTick(tx: Transaction, kind: string): Promise<number> {
  const [row] = await tx.query(sql`
    insert into kind_state (kind, tick, state, complete_sweeps, epoch) values (${kind}, ${LEAP}, 'never', 0, 0)
    on conflict (kind) do update set tick = kind_state.tick + ${LEAP} returning tick`);
  return Number(row?.['tick']);
}

/**
 * The tick that every later answer of a list is above; 0 where nothing was ever asked for.
 *
 * A sweep under way may not have learned of a leap yet: it counts on from the last answer that it landed.
 */
export async function readTick(db: Queryable, kind: string): Promise<number> {
  const [row] = await db.query(sql`
    select case when owner is null then tick
      else (select max(answered) from sightings where sightings.kind = kind_state.kind) end as tick
    from kind_state where kind = ${kind}`);
  return Number(row?.['tick'] ?? 0);
}
