import { sql } from 'drizzle-orm';
import { readTexts } from '../../db/rows/rows.ts';
import type { Queryable } from '../../db/session/session.ts';
import { formatInstant } from '../../lib/time/clock.ts';

/**
 * Returns now, or the latest instant that a change, an entry of the outbox or a plan bears. What is stored later never looks earlier,
 * although the clock was set back: an update must see every change that came after it.
 */
export async function mirrorInstant(db: Queryable, now: Date): Promise<string> {
  const stored = await readTexts(
    db,
    sql`select at from (select observed_at as at from changes order by seq desc limit 1) latest_change
      union all select at from (select created_at as at from outbox order by id desc limit 1) latest_entry
      union all select at from (select created_at as at from plans order by id desc limit 1) latest_plan`,
  );
  return stored.reduce((latest, at) => (at > latest ? at : latest), formatInstant(now));
}
