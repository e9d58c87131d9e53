import { sql } from 'drizzle-orm';
import type { Queryable } from './session.ts';
import { leasedKinds, openRuns } from './startable-runs.ts';
import type { Reader } from './startable-runs.ts';

/** Whether nobody pulls or is about to, and nobody sends; a verification itself does not count. */
export async function isIdle(db: Queryable, reader: Reader): Promise<boolean> {
  const open = (await openRuns(db)).filter(({ command, isAskedFor }) => isAskedFor && command !== 'verify');
  if (open.length > 0 || (await leasedKinds(db, reader)).length > 0) return false;
  return (await db.query(sql`select 1 from outbox where state = 'sending' limit 1`)).length === 0;
}
