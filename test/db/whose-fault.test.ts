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

test.each([
  [
    'a column that takes no null',
    'alter table t add column theirs text not null',
    'mirror.unreadable_schema',
  ],
  ['a rule of its own', 'alter table t add check (id > 5)', 'mirror.unreadable_schema'],
  [
    'a trigger that refuses',
    `create function no() returns trigger language plpgsql as $$ begin raise 'not today'; end $$;
     create trigger refuses before insert on t for each row execute function no()`,
    'mirror.fault',
  ],
])("on PostgreSQL an administrator's %s is a fault of the mirror", async (_, change, code) => {
  const url = await freshDatabaseUrl();
  const session = await openForTest(url);
  await session.atomically((tx) => tx.execute('create table t (id bigint primary key, name text)'));
  const admin = await bystander(url);
  await admin.query(change);
  const insert = (): Promise<unknown> =>
    session.atomically((tx) => tx.insertRows({ table: 't', columns: ['id', 'name'], rows: [[1, 'a']] }));
  expect(await thrownBy(insert)).toMatchObject({ code });
});
