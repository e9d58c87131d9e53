import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { migrate } from '../../src/views/migrate.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';

/** One migrated mirror for many histories: to migrate or open one for each would take longer than to play it. */
export interface Mirror extends AsyncDisposable {
  /** The mirror, without a row. */
  readonly blank: () => Promise<Session>;
  readonly tables: readonly string[];
}

/** @param folder On PostgreSQL, a URL instead. */
export async function openMirror(url: string | null): Promise<Mirror> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-world-'));
  const session =
    url === null ? openSqliteSession(join(folder, 'mirror.db')) : await openPostgresSession(url);
  await migrate(session, KINDS);
  const meta = (await session.query(sql`select key from mirror_meta`)).map(({ key }) => String(key));
  const tables = await tablesOf(session);
  return {
    tables,
    blank: async () => {
      await empty(session, { tables, meta });
      return session;
    },

    [Symbol.asyncDispose]: async () => {
      await session.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function tablesOf(session: Session): Promise<readonly string[]> {
  const names =
    session.dialect === 'sqlite'
      ? sql`select name from sqlite_master where type = 'table'`
      : sql`select tablename as name from pg_tables where schemaname = 'bms_sync'`;
  return (await session.query(names))
    .map(({ name }) => String(name))
    .filter((name) => !name.includes('migrations') && name !== 'mirror_meta');
}

/** Takes every row out again, except the rows that describe the tables. */
async function empty(
  session: Session,
  { tables, meta }: { readonly tables: readonly string[]; readonly meta: readonly string[] },
): Promise<void> {
  await session.atomically(async (tx) => {
    if (session.dialect === 'sqlite')
      for (const name of tables) await tx.query(sql`delete from ${sql.identifier(name)}`);
    else
      await tx.query(
        sql`truncate ${sql.join(
          tables.map((name) => sql.identifier(name)),
          sql`, `,
        )} restart identity`,
      );
    await tx.query(sql`delete from mirror_meta where key not in ${meta}`);
  });
}
