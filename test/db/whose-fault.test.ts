import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { bystander, freshDatabaseUrl } from '../support/postgres.ts';
import { openForTest } from '../store/postgres-mirror.ts';
import { tempSession, thrownBy } from '../store/temp-mirror.ts';

const sessions: readonly [string, () => Promise<Session>][] = [
  ['SQLite', () => Promise.resolve(tempSession())],
  ['PostgreSQL', async () => openForTest(await freshDatabaseUrl())],
];

describe.each(sessions)('whose fault it is, on %s', (_, open) => {
  const insert = (session: Session): Promise<unknown> =>
    session.atomically((tx) => tx.insertRows({ table: 't', columns: ['id', 'name'], rows: [[1, 'a']] }));

  test('ours: what the work throws by itself, with a code of the system too', async () => {
    const session = await open();
    const faults = [new TypeError('not a function'), Object.assign(new Error('x'), { code: 'ENOSPC' })];
    for (const fault of faults)
      expect(await thrownBy(() => session.atomically(() => Promise.reject(fault)))).toBe(fault);
  });

  test('ours: the text of a statement, and its values', async () => {
    const session = await open();
    await session.atomically((tx) => tx.execute('create table t (id bigint primary key, name text)'));
    await insert(session);
    const codes = [
      await thrownBy(() => session.atomically((tx) => tx.execute('nonsense'))),
      await thrownBy(() => session.query(sql`select selected from from t`)),
      await thrownBy(() => insert(session)),
    ].map((error) => (error as { code: string }).code);
    expect(codes).not.toContainEqual(expect.stringContaining('mirror.'));
  });

  test("the mirror's: a column and a table that somebody removed or renamed", async () => {
    const session = await open();
    await session.atomically((tx) => tx.execute('create table t (id bigint primary key, name text)'));
    await insert(session);
    await session.atomically((tx) => tx.execute('alter table t rename column name to their_name'));
    expect(await thrownBy(() => insert(session))).toMatchObject({
      code: 'mirror.unreadable_schema',
      message: expect.stringContaining('name') as unknown,
    });
    expect(await thrownBy(() => session.query(sql`select name from t`))).toMatchObject({
      code: 'mirror.unreadable_schema',
    });
    await session.atomically((tx) => tx.execute('drop table t'));
    expect(await thrownBy(() => insert(session))).toMatchObject({
      code: expect.stringMatching(/^mirror\.(?:unreadable_schema|tables_missing)$/) as unknown,
    });
  });
});

const SCHEMA = 'mirror.unreadable_schema';

test.each([
  ['column that takes no null', 'alter table t add column theirs text not null', SCHEMA],
  ['refusal of null in a column of ours', 'alter table t alter column note set not null', SCHEMA],
  ['check', 'alter table t add check (id > 5)', SCHEMA],
  ['unique index', "insert into t values (2, 'anna'); create unique index theirs on t (name)", SCHEMA],
  [
    'foreign key',
    'create table o (id bigint primary key); alter table t add foreign key (id) references o',
    SCHEMA,
  ],
  ['exclusion', "insert into t values (2, 'anna'); alter table t add exclude (name with =)", SCHEMA],
  [
    'computed column',
    "alter table t drop name; alter table t add name text generated always as ('x') stored",
    SCHEMA,
  ],
  ['length', 'alter table t alter column name type varchar(1)', SCHEMA],
  [
    'trigger that refuses',
    `create function no() returns trigger language plpgsql as $$ begin raise 'not today'; end $$;
     create trigger refuses before insert on t for each row execute function no()`,
    'mirror.fault',
  ],
  [
    'trigger that refuses as a unique index does',
    `create function no() returns trigger language plpgsql as $$ begin raise 'no' using errcode = '23505'; end $$;
     create trigger refuses before insert on t for each row execute function no()`,
    SCHEMA,
  ],
])("on PostgreSQL an administrator's %s is a fault of the mirror", async (_, change, code) => {
  const url = await freshDatabaseUrl();
  const session = await openForTest(url);
  await session.atomically((tx) =>
    tx.execute('create table t (id bigint primary key, name text, note text)'),
  );
  const admin = await bystander(url);
  await admin.query(change);
  const insert = (): Promise<unknown> =>
    session.atomically((tx) =>
      tx.upsertRows({ table: 't', columns: ['id', 'name', 'note'], rows: [[1, 'anna', null]] }),
    );
  expect(await thrownBy(insert)).toMatchObject({ code });
});

test('on PostgreSQL a primary key that an administrator dropped is a fault of the mirror', async () => {
  const url = await freshDatabaseUrl();
  const session = await openForTest(url);
  await session.atomically((tx) => tx.execute('create table t (id bigint primary key, name text)'));
  await (await bystander(url)).query('alter table t drop constraint t_pkey');
  const upsert = (): Promise<unknown> =>
    session.atomically((tx) => tx.upsertRows({ table: 't', columns: ['id', 'name'], rows: [[1, 'a']] }));
  expect(await thrownBy(upsert)).toMatchObject({ code: SCHEMA });
});

test.each([
  ['unique index', "insert into t values (2, 'a'); create unique index theirs on t (name)"],
  [
    'unique index of an expression',
    "insert into t values (2, 'A'); create unique index theirs on t (lower(name))",
  ],
  ['trigger', "create trigger no before insert on t begin select raise(abort, 'not today'); end"],
  ['computed column', "alter table t drop name; alter table t add name text generated always as ('x')"],
])("on SQLite an administrator's %s is a fault of the mirror", async (_, change) => {
  const session = tempSession();
  await session.atomically(async (tx) => {
    await tx.execute('create table t (id bigint primary key, name text)');
    await tx.execute(change);
  });
  const insert = (): Promise<unknown> =>
    session.atomically((tx) => tx.upsertRows({ table: 't', columns: ['id', 'name'], rows: [[1, 'a']] }));
  expect(await thrownBy(insert)).toMatchObject({ code: SCHEMA });
});
