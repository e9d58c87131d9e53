import { onTestFinished } from 'vitest';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { freshDatabase } from '../support/postgres.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { tempMirror } from './temp-mirror.ts';

/** Both databases, each with a way to a mirror of clients and products that goes when the test ends. */
export const DATABASES: readonly (readonly [name: string, open: () => Promise<Session>])[] = [
  ['SQLite', () => tempMirror(TWO_KINDS)],
  ['PostgreSQL', openPostgresMirror],
];

/** Where only what stands above the session is shown, which knows no database. */
export const ONE_DATABASE = DATABASES.slice(0, 1);

async function openPostgresMirror(): Promise<Session> {
  const { url, drop } = await freshDatabase('template_two_kinds');
  const session = await openPostgresSession(url);
  onTestFinished(async () => {
    await session.close();
    await drop();
  });
  return session;
}
