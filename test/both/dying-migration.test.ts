import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { migrate } from '../../src/views/migrate.ts';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { dyingAt } from './support.ts';

async function finishes(session: Session): Promise<boolean> {
  return migrate(session, KINDS).catch((error: unknown) => {
    expect(error).toMatchObject({ message: 'killed' });
    return false;
  });
}

async function tables(session: Session): Promise<number> {
  const [row] = await session.query(
    sql`
      select count(*) as count from pg_class join pg_namespace n on n.oid = relnamespace
      where relkind in ('r', 'v') and nspname in ('public', 'bms_sync')`,
  );
  return Number(row?.['count']);
}

test('PostgreSQL, G12: a migration that dies at any step leaves nothing, and the next start finishes it', async () => {
  await using session = await openPostgresSession(await freshDatabaseUrl());
  let n = 1;
  for (; !(await finishes(dyingAt(session, n))); n++) expect(await tables(session), `step ${n}`).toBe(0);
  expect(n).toBeGreaterThan(30);
  expect(await migrate(session, KINDS)).toBe(false);
  expect(await tables(session)).toBeGreaterThan(25);
});
