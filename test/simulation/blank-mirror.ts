import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll } from 'vitest';
import { KINDS } from '../../src/catalog/catalog.ts';
import { migrate } from '../../src/mirror/shape/migrate.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { openSqliteSession } from '../../src/mirror/sqlite/session.ts';

/**
 * Gives a test file one migrated mirror in a SQLite file.
 *
 * @returns What empties it for the next schedule: to migrate or open one for each would take longer than to play it.
 */
export function blankMirror(): () => Promise<Session> {
  let [folder, session, meta] = ['', null as Session | null, [] as string[]];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bms-sync-simulation-'));
    session = openSqliteSession(join(folder, 'mirror.db'));
    await migrate(session, KINDS);
    meta = (await session.query(sql`select key from mirror_meta`)).map(({ key }) => String(key));
  });
  afterAll(async () => {
    await session?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return async () => {
    if (session === null) throw new Error('A mirror is there once the tests run.');
    await empty(session, meta);
    return session;
  };
}

/** Takes every row out again, save those that tell how the tables are made. */
async function empty(session: Session, meta: readonly string[]): Promise<void> {
  const tables = await session.query(sql`
    select name from sqlite_master where type = 'table' and name not like '%migrations%' and name <> 'mirror_meta'`);
  await session.atomically(async (tx) => {
    for (const { name } of tables) await tx.query(sql`delete from ${sql.identifier(String(name))}`);
    await tx.query(sql`delete from mirror_meta where key not in ${meta}`);
  });
}
