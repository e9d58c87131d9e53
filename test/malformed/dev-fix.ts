import { sql } from 'drizzle-orm';
import type { Session } from '../../src/mirror/session.ts';
export function devFix(session: Session): Session {
  return { ...session, atomically: (work) => session.atomically((tx) => work({ ...tx, putRows: async (rows) => {
    await tx.putRows(rows);
    const idAt = rows.columns.indexOf('id');
    for (const row of rows.rows) for (const [at, value] of row.entries())
      if (at !== idAt && typeof value === 'string' && /^-?\d{15,19}$/.test(value))
        await tx.query(sql`update ${sql.identifier(rows.table)} set ${sql.identifier(rows.columns[at] ?? '')} = ${value} where id = ${row[idAt] ?? null}`);
  } })) };
}
