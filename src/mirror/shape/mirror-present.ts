import { sql } from 'drizzle-orm';
import type { Session } from '../session/session.ts';

/** Whether a database holds a mirror, of this release or an earlier one; creates nothing. */
export async function isMirrorPresent(session: Session): Promise<boolean> {
  const rows = await session.query(
    session.dialect === 'sqlite'
      ? sql`select 1 as one from sqlite_master where type = 'table' and name = 'mirror_meta'`
      : sql`select 1 as one where to_regclass('mirror_meta') is not null`,
  );
  return rows.length > 0;
}
