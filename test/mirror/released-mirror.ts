import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { KINDS } from '../../src/catalog/catalog.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { bystander, freshDatabaseUrl } from '../support/postgres.ts';
import { openForTest as openPostgres } from './postgres-mirror.ts';
import { openForTest as openSqlite, tempFolder } from './temp-mirror.ts';

/**
 * Mirrors of version 3, as that release itself left them: three pulls of a sandbox of three clients, one of which was
 * renamed between them, and an entry in the outbox. The files hold every statement that it sent, and every row.
 */

const released = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'released', `${name}.sql`), 'utf8');

/** The kinds that such a mirror has a table for; the catalogue may have got more since. */
export const RELEASED_KINDS = KINDS.filter(({ name }) =>
  released('sqlite').includes(`CREATE TABLE "${name}" (`),
);

/** The address of such a mirror in PostgreSQL; `preparing` is SQL that runs before it is made. */
export async function releasedPostgres(preparing = ''): Promise<string> {
  const url = await freshDatabaseUrl();
  const client = await bystander(url);
  await client.query(preparing + released('postgres'));
  return url;
}

/** The path of such a mirror in SQLite. */
export function releasedSqlite(): string {
  const path = join(tempFolder(), 'mirror.db');
  const database = new Sqlite(path);
  database.exec(`begin; ${released('sqlite')} commit`);
  database.close();
  return path;
}

/** Both databases, each with a way to such a mirror, not migrated yet. */
export const RELEASED: readonly (readonly [name: string, open: () => Promise<Session>])[] = [
  ['SQLite', () => Promise.resolve(openSqlite(releasedSqlite()))],
  ['PostgreSQL', async () => openPostgres(await releasedPostgres())],
];
