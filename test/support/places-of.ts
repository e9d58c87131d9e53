import { sql } from 'drizzle-orm';
import { readTexts } from '../../src/db/rows/rows.ts';
import type { Session } from '../../src/db/session/session.ts';
import { identifier } from '../../src/db/session/sql-text.ts';

const TABLES = {
  sqlite: sql`select name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite_%'`,
  postgres: sql`select format('%I.%I', table_schema, table_name) from information_schema.tables
    where table_schema in ('bms_sync', 'public')`,
};

/** The tables and views that hold one of the secrets, each with it. */
export async function placesOf(session: Session, secrets: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const table of await readTexts(session, TABLES[session.dialect])) {
    const name = session.dialect === 'sqlite' ? identifier(table) : table;
    const rows = JSON.stringify(await session.query(sql.raw(`select * from ${name}`)));
    for (const secret of secrets) if (rows.includes(secret)) found.push(`${table}: ${secret}`);
  }
  return found;
}
