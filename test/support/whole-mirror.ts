import { sql } from 'drizzle-orm';
import { openSession } from '../../src/db/open-session.ts';

/** The text of every row of every table of a mirror. */
export async function everythingIn(url: string): Promise<string> {
  await using session = await openSession(url);
  const tables = await session.query(
    session.dialect === 'sqlite'
      ? sql`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`
      : sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'bms_sync'::regnamespace`,
  );
  const texts: string[] = [];
  for (const { name } of tables)
    texts.push(JSON.stringify(await session.query(sql`select * from ${sql.identifier(String(name))}`)));
  return texts.join('\n');
}
