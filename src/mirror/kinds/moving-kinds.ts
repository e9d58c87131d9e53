import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import type { Queryable } from '../session/session.ts';

/** After this many consecutive complete sweeps without a certificate, a list counts as one that moves while it is read. */
export const MOVING_AFTER = 3;

/** Kinds whose lists move while they are read. */
export async function readMovingKinds(db: Queryable): Promise<string[]> {
  const rows = await db.query(sql`
    select kind from kind_state where uncertified_sweeps >= ${MOVING_AFTER} order by kind`);
  return rows.map(({ kind }) => String(kind));
}

const HOURS = 24;

/** Counts a kind's changes since an instant, by the hour of the day (UTC), and the days on which there were any. */
export async function countChangesByHour(
  db: Queryable,
  kind: string,
  since: Date,
): Promise<{ counts: number[]; days: number }> {
  // Instants are UTC texts; PostgreSQL converts them to such, because the connection's time zone is UTC.
  const rows = await db.query(sql`
    select substr(cast(observed_at as text), 1, 13) as hour, count(*) as changes from changes
    where kind = ${kind} and observed_at >= ${instantText(since)} group by 1`);
  const counts = Array<number>(HOURS).fill(0);
  const days = new Set<string>();
  for (const row of rows) {
    const [day, hour] = [String(row['hour']).slice(0, 10), Number(String(row['hour']).slice(11))];
    counts[hour] = (counts[hour] ?? 0) + Number(row['changes']);
    days.add(day);
  }
  return { counts, days: days.size };
}
