import { sql, type SQL } from 'drizzle-orm';
import { hasEnded } from '../../lib/owner.ts';
import type { Queryable } from '../../db/session/session.ts';
import { select, type TableColumns } from '../../db/rows/rows.ts';

/** A process that has renewed nothing for this time, in seconds, counts as gone; others may then take its work over. */
const LEASE_S = 45;

/** Milliseconds between two heartbeats: two of them may fail before the lease ends. */
export const HEARTBEAT_MS = 15_000;

/** What lies further in the future, in seconds, was written while the database's clock was ahead: it does not count. */
const MOST_AHEAD_S = 300;

/** The database's clock, some seconds later. Nobody is judged by the clocks of hosts, which may differ by more than a lease. */
export const databaseClock = ({ dialect }: Queryable, seconds: number): SQL =>
  dialect === 'sqlite'
    ? sql`strftime('%Y-%m-%d %H:%M:%f', 'now', ${`${seconds} seconds`})`
    : sql`clock_timestamp() + make_interval(secs => ${seconds})`;

/** The end of a lease that is taken or renewed now. */
export const leaseEnd = (db: Queryable): SQL => databaseClock(db, LEASE_S);

/**
 * Reads the rows whose owner is alive, as far as anybody knows: it has renewed its lease in time, and its process exists, if it is one
 * of this host.
 * @param by When the lease ends, or when the last heartbeat was. @param rest More conditions, and the order.
 */
export async function readAlive<From extends TableColumns>(
  db: Queryable,
  table: From,
  by: 'lease_until' | 'seen_at',
  rest = sql``,
) {
  const at = sql.identifier(by);
  const oldest = databaseClock(db, by === 'seen_at' ? -LEASE_S : 0);
  const isLeased = sql`where owner is not null and ${at} > ${oldest} and ${at} <= ${databaseClock(db, MOST_AHEAD_S)} ${rest}`;
  const rows = await select(db, table, isLeased);
  return rows.filter((row) => 'owner' in row && !hasEnded(String(row['owner'])));
}
