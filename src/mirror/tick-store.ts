import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from './session.ts';

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

/** Where a kind's counter stands; 0 where nothing was ever asked for. */
export async function readTick(db: Queryable, kind: string): Promise<number> {
  const [row] = await db.query(sql`select tick from kind_state where kind = ${kind}`);
  return Number(row?.['tick'] ?? 0);
}
