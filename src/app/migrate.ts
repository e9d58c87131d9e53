import { KINDS } from '../catalog/catalog.ts';
import type { Config } from '../config/settings.ts';
import { migrate } from '../mirror/migrate.ts';
import { openSqliteSession } from '../mirror/sqlite-session.ts';
import { mirrorPath } from './open-mirror.ts';

export interface Migration {
  readonly database: string;
  /** False where the mirror had the shape of this release already. */
  readonly migrated: boolean;
}

/** Brings the mirror to the shape of this release; creates it where there is none. */
export async function migrateMirror(config: Config): Promise<Migration> {
  const database = mirrorPath(config);
  await using session = openSqliteSession(database);
  return { database, migrated: await migrate(session, KINDS) };
}
