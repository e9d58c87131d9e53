import type { Config } from '../config/settings.ts';
import { openSession } from '../mirror/open-session.ts';
import { bringUpToDate } from './open-mirror.ts';

interface Migration {
  readonly database: string;
  /** False if the mirror already had the shape of this release. */
  readonly migrated: boolean;
}

/** Brings the mirror to the shape of this release; creates it if there is none. */
export async function migrateMirror(config: Config): Promise<Migration> {
  await using session = await openSession(config.database.url);
  return { database: session.location, migrated: await bringUpToDate(session, config) };
}
