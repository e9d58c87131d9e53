import { existsSync } from 'node:fs';
import { KINDS } from '../catalog/catalog.ts';
import type { Config } from '../config/settings.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';
import { migrate } from '../mirror/migrate.ts';
import type { Session } from '../mirror/session.ts';
import { openSqliteSession } from '../mirror/sqlite-session.ts';

/** Opens the mirror, creating it where there is none, and brings it to the shape of this release. */
export async function openMirror(config: Config): Promise<Session> {
  const session = openSqliteSession(mirrorPath(config));
  try {
    await migrate(session, KINDS);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/**
 * Opens a mirror to be reported on.
 *
 * @throws {SyncError} `mirror.absent` where there is none: a report must not invent an empty one.
 */
export async function openExistingMirror(config: Config): Promise<Session> {
  const path = mirrorPath(config);
  if (existsSync(path)) return openMirror(config);
  throw new SyncError(`There is no mirror at ${path}.`, {
    code: 'mirror.absent',
    hint: 'Set DATABASE_URL to the mirror, or create it: bms-sync pull, or bms-sync migrate.',
  });
}

/** The path of the SQLite file that `database.url` names. */
export function mirrorPath({ database }: Config): string {
  if (database.url.startsWith('file:')) return database.url.slice('file:'.length);
  throw new UsageError('database.url names a PostgreSQL database, which this release cannot use yet.', {
    code: 'settings.database',
    hint: 'Set DATABASE_URL to file:PATH.',
  });
}
