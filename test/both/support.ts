import { onTestFinished } from 'vitest';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { freshDatabase } from '../support/postgres.ts';

export interface PostgresMirror {
  readonly session: Session;
  readonly url: string;
}

/** A migrated mirror in a PostgreSQL database of its own. */
export async function postgresMirror(): Promise<PostgresMirror> {
  const { url, drop } = await freshDatabase('template_all_kinds');
  const session = await openPostgresSession(url);
  onTestFinished(async () => {
    await session.close();
    await drop();
  });
  return { session, url };
}
