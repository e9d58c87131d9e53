import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { textField } from '../../src/catalog/field.ts';
import { discoverColumns } from '../../src/views/discover-columns.ts';
import { migrate } from '../../src/views/migrate.ts';
import type { Session } from '../../src/db/session/session.ts';
import { bystander, freshDatabaseUrl, freshRole } from '../support/postgres.ts';
import { openForTest } from '../store/postgres-mirror.ts';
import { NOON, kindNamed, madeUpKind, thrownBy } from '../store/temp-mirror.ts';

const DENIED = '42501';

async function viewNames(session: Session): Promise<string[]> {
  const rows = await session.query(sql`
    select relname as name from pg_class where relkind = 'v' and relnamespace = 'public'::regnamespace order by 1`);
  return rows.map(({ name }) => String(name));
}

test('bi.readerRole reads all views, writes none, and its tools list nothing else', async () => {
  const url = await freshDatabaseUrl();
  const role = await freshRole(url);
  const session = await openForTest(url);
  await migrate(session, KINDS, { readerRole: role.name });
  const reader = await bystander(role.url);

  for (const view of await viewNames(session)) {
    await reader.query(`select count(*) from ${view}`);
    await expect(reader.query(`delete from ${view}`)).rejects.toMatchObject({ code: DENIED });
  }
  for (const table of ['clients', 'mirror_meta', 'outbox'])
    await expect(reader.query(`select * from bms_sync.${table}`)).rejects.toMatchObject({ code: DENIED });
  const { rows } = await reader.query<{ name: string }>(`
    select table_name as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') order by 1`);
  expect(rows.map(({ name }) => name).sort()).toEqual((await viewNames(session)).sort());
});

test('views that are made later are readable, too: of a discovered field, of a further kind', async () => {
  const url = await freshDatabaseUrl();
  const role = await freshRole(url);
  const session = await openForTest(url);
  await migrate(session, KINDS, { readerRole: role.name });
  const reader = await bystander(role.url);
  await session.atomically((tx) =>
    tx.query(sql`
      insert into fields (kind, field, documented, type, fits_hint, wire, position, first_seen_at)
      values ('clients', 'pets', 0, 'json', 0, 'array', 99, ${NOON.toISOString()})`),
  );
  await discoverColumns(session, kindNamed('clients'), NOON);
  await reader.query('select pets from bi_clients');
  await reader.query('select value from bi_clients_pets');

  await migrate(session, [...KINDS, madeUpKind('boats', [textField('name')])], { readerRole: role.name });
  await reader.query('select name from bi_boats');
  await reader.query('select * from bi_boats_history');
});

test('a role that does not exist is named, with the setting and the SQL that makes it, and nothing is changed', async () => {
  const session = await openForTest(await freshDatabaseUrl());
  const error = await thrownBy(() => migrate(session, KINDS, { readerRole: 'No "such" role' }));
  expect(error).toMatchObject({
    code: 'mirror.no_reader_role',
    message: expect.stringMatching(/"No ""such"" role".*bi\.readerRole/) as unknown,
    hint: expect.stringContaining(`create role "No ""such"" role" login`) as unknown,
  });
  expect(await viewNames(session)).toEqual([]);
});

test('another role takes the right of the one before, and none takes it from both', async () => {
  const url = await freshDatabaseUrl();
  const first = await freshRole(url);
  const second = await freshRole(url);
  const session = await openForTest(url);
  const maySee = async (role: string): Promise<unknown> =>
    (await session.query(sql`select has_table_privilege(${role}, 'bi_clients', 'select') as may`))[0]?.[
      'may'
    ];
  await migrate(session, KINDS, { readerRole: first.name });
  expect(await migrate(session, KINDS, { readerRole: first.name })).toBe(false);

  expect(await migrate(session, KINDS, { readerRole: second.name })).toBe(true);
  expect([await maySee(first.name), await maySee(second.name)]).toEqual([0, 1]);
  expect(await migrate(session, KINDS)).toBe(true);
  expect(await maySee(second.name)).toBe(0);
});
