import { existsSync } from 'node:fs';
import { UsageError } from '../lib/sync-error.ts';
import type { SqliteOptions } from './sqlite/session.ts';
import type { Queryable, Session } from './session/session.ts';

/**
 * Opens the database that an address names: `file:PATH`, `postgres://…` or `postgresql://…`.
 * @throws {UsageError} Where it names neither.
 */
export async function openSession(url: string, sqlite: SqliteOptions = {}): Promise<Session> {
  const path = sqlitePath(url);
  if (path !== null) {
    const { openSqliteSession } = await import('./sqlite/session.ts'); // Each brings a driver that the other does not need.
    return openSqliteSession(path, sqlite);
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const { openPostgresSession } = await import('./postgres/session.ts');
    return openPostgresSession(url);
  }
  throw new UsageError('database.url is neither a file nor a PostgreSQL database.', {
    code: 'settings.database',
    hint: 'Set DATABASE_URL to file:PATH or postgres://USER:PASSWORD@HOST:5432/DATABASE.',
  });
}

/** Opens a new, read-only connection to the database that is at an address now. @throws {MirrorError} If there is none. */
export async function openFreshReader(url: string): Promise<Queryable & AsyncDisposable> {
  const path = sqlitePath(url);
  if (path === null) return (await import('./postgres/session.ts')).openSnapshotReader(url);
  return (await import('./sqlite/connection.ts')).openFreshFile(path);
}

const FILE = 'file:';

/** The path in the address of a SQLite database; null for another database. */
export const sqlitePath = (url: string): string | null =>
  url.startsWith(FILE) ? url.slice(FILE.length) : null;

/** The path of a SQLite database that does not exist; null if there is a file, or the database is another one. */
export function absentFile(url: string): string | null {
  const path = sqlitePath(url);
  return path === null || path === '' || path === ':memory:' || existsSync(path) ? null : path;
}
