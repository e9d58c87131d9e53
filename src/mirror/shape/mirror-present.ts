import { sql } from 'drizzle-orm';
import type { Session } from '../session/session.ts';
import { hasRow } from '../tables/rows.ts';

/** Whether a database holds a mirror, of this release or an earlier one; creates nothing. */
export async function isMirrorPresent(session: Session): Promise<boolean> {
  return hasRow(
    session,
    session.dialect === 'sqlite'
      ? sql`select 1 from sqlite_master where type = 'table' and name = 'mirror_meta'`
      : sql`select 1 where to_regclass('mirror_meta') is not null`,
  );
}
