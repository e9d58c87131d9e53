import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/catalog.ts';
import { text } from '../../src/catalog/field.ts';
import { migrate } from '../../src/mirror/shape/migrate.ts';
import { openPostgresSession } from '../../src/mirror/postgres/session.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';

test('PostgreSQL: a new documented field is appended to table and view, and an analyst’s view goes on', async () => {
  await using session = await openPostgresSession(await freshDatabaseUrl());
  await migrate(session, KINDS);
  await session.atomically((tx) => tx.execute('create view analyst as select id, code from bi_clients'));
  const longer = KINDS.map((kind) =>
    kind.name === 'clients'
      ? { ...kind, fields: [...kind.fields.slice(0, 2), text('motto'), ...kind.fields.slice(2)] }
      : kind,
  );

  expect(await migrate(session, longer)).toBe(true);

  const columns = await session.atomically((tx) => tx.columnsOf('bi_clients'));
  expect([...columns].at(-1)).toBe('motto');
  expect(await session.query(sql`select * from analyst`)).toEqual([]);
});

test('PostgreSQL: a newer mirror is refused', async () => {
  await using session = await openPostgresSession(await freshDatabaseUrl());
  await migrate(session, KINDS);
  await session.atomically((tx) => tx.query(sql`update mirror_meta set value = '99' where key = 'version'`));
  await expect(migrate(session, KINDS)).rejects.toMatchObject({ code: 'mirror.newer' });
});
