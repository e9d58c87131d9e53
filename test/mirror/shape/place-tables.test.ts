import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/catalog.ts';
import { migrate } from '../../../src/mirror/shape/migrate.ts';
import { bystander, freshDatabaseUrl, freshRole } from '../../support/postgres.ts';
import { openForTest } from '../postgres-mirror.ts';
import { releasedPostgres } from '../released-mirror.ts';
import { mirrorFault } from '../temp-mirror.ts';

const RELATIONS = `
  select relnamespace::regnamespace::text as schema, relkind::text as kind, count(*)::int as count from pg_class
  where relnamespace not in (select oid from pg_namespace where nspname ~ '^pg_|^information_schema')
  group by 1, 2 order by 1, 2`;

/** Tables and their indexes and sequences here, views there, and nothing anywhere else. */
async function shapeOf(url: string): Promise<unknown[]> {
  const client = await bystander(url);
  return (await client.query<Record<string, unknown>>(RELATIONS)).rows;
}

async function schemasOf(url: string): Promise<string[]> {
  return (await shapeOf(url)).map((row) =>
    Object.values(row as object)
      .slice(0, 2)
      .join(' '),
  );
}

describe('PostgreSQL keeps tables in bms_sync and views in public', () => {
  const PLACES = ['bms_sync i', 'bms_sync r', 'bms_sync S', 'public v'];

  test('in a new database', async () => {
    const url = await freshDatabaseUrl();
    await migrate(await openForTest(url), KINDS);
    expect((await schemasOf(url)).sort()).toEqual(PLACES.sort());
  });

  test('in a mirror of the release before, whose numbers go on', async () => {
    const url = await releasedPostgres();
    const session = await openForTest(url);
    await migrate(session, KINDS);
    expect((await schemasOf(url)).sort()).toEqual(PLACES.sort());
    const ids = await session.atomically((tx) =>
      tx.query(sql`
        insert into runs (command, kinds, state, requested_at) values ('pull', '[]', 'requested', now()) returning id`),
    );
    expect(Number(ids[0]?.['id'])).toBeGreaterThan(3);
  });

  test('also where that release had worked in a schema of the user’s own', async () => {
    const url = await releasedPostgres('create schema own; set search_path to own; ');
    const role = await freshRole(url);
    const admin = await bystander(url);
    await admin.query(`alter role ${role.name} superuser; alter role ${role.name} set search_path to own`);
    const session = await openForTest(role.url);
    expect(await migrate(session, KINDS)).toBe(true);
    expect((await schemasOf(url)).sort()).toEqual(PLACES.sort());
    expect(await session.query(sql`select id from bi_clients`)).toHaveLength(3);
    expect(await migrate(session, KINDS)).toBe(false);
  });

  test('a table of a user’s own in public that is called as one of ours stays out of it', async () => {
    const url = await freshDatabaseUrl();
    const client = await bystander(url);
    await client.query(`create table clients (name text); insert into clients values ('of mine')`);
    const session = await openForTest(url);
    expect(await migrate(session, KINDS)).toBe(true);
    expect((await client.query('select * from public.clients')).rows).toEqual([{ name: 'of mine' }]);
    expect(await session.query(sql`select id from clients`)).toEqual([]);
  });

  test('a view of a user’s own that is called as one of ours is not taken for ours', async () => {
    const url = await freshDatabaseUrl();
    await (await bystander(url)).query('create view bi_clients as select 1 as id');
    expect(await mirrorFault(async () => migrate(await openForTest(url), KINDS))).toBe('mirror.not_ours');
  });
});

describe('an older release', () => {
  /** How it begins: by short names, through the path that its connection has by default. */
  const FIND = `select format('%s.%s', relnamespace::regnamespace, relname) as found from pg_class where oid = to_regclass('mirror_meta')`;

  test.each([
    ['a new mirror', freshDatabaseUrl],
    ['a mirror that was its own', () => releasedPostgres()],
  ])(
    'finds that %s is newer than itself, and refuses it, rather than make a second one',
    async (_name, open) => {
      const url = await open();
      await migrate(await openForTest(url), KINDS);
      const old = await bystander(url);
      expect((await old.query(FIND)).rows).toEqual([{ found: 'bms_sync.mirror_meta' }]);
      expect((await old.query(`select value from mirror_meta where key = 'version'`)).rows).toEqual([
        { value: '5' },
      ]);
    },
  );

  test('what else its user makes without naming a schema goes where it went before', async () => {
    const url = await releasedPostgres();
    await migrate(await openForTest(url), KINDS);
    const client = await bystander(url);
    await client.query('create table mine (id int)');
    expect((await client.query(`select 'mine'::regclass = 'public.mine'::regclass as same`)).rows).toEqual([
      { same: true },
    ]);
    expect((await client.query('select id from clients')).rows).toHaveLength(3);
  });
});
