import { onTestFinished } from 'vitest';
import type { Kind } from '../../src/catalog/kind.ts';
import { migrate } from '../../src/mirror/shape/migrate.ts';
import { openPostgresSession } from '../../src/mirror/postgres/session.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { freshDatabase } from '../support/postgres.ts';
import { kindNamed, tempMirror } from './temp-mirror.ts';

/** Two kinds are enough to tell whether a store keeps them apart, and are drawn in a moment. */
const TWO_KINDS: readonly Kind[] = [kindNamed('clients'), kindNamed('products')];

/** Both databases, each with a way to a mirror of clients and products that goes when the test ends. */
export const DATABASES: readonly (readonly [name: string, open: () => Promise<Session>])[] = [
  ['SQLite', () => tempMirror(TWO_KINDS)],
  ['PostgreSQL', openPostgresMirror],
];

async function openPostgresMirror(): Promise<Session> {
  const { url, drop } = await freshDatabase();
  const session = await openPostgresSession(url);
  onTestFinished(async () => {
    await session.close();
    await drop();
  });
  await migrate(session, TWO_KINDS);
  return session;
}
