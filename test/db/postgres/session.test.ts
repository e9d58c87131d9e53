import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { MirrorError, OtherSourceError } from '../../../src/db/session/errors.ts';
import type { PostgresOptions } from '../../../src/db/postgres/session.ts';
import type { Session, Transaction } from '../../../src/db/session/session.ts';
import { behindPgBouncer } from '../../support/pgbouncer.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { bystander, databaseWithSchema, freshDatabaseUrl } from '../../support/postgres.ts';
import { sessionContract } from '../contract/session-contract.ts';
import { openForTest } from '../../store/postgres-mirror.ts';
import { mirrorFault, thrownBy } from '../../store/temp-mirror.ts';

sessionContract('PostgreSQL', async () => openForTest(await databaseWithSchema()));
sessionContract('PostgreSQL behind a transaction pooler', async () =>
  openForTest(await behindPgBouncer(await databaseWithSchema(), 5)),
);

test('behind a transaction pooler nothing of ours stays for the next application', async () => {
  const direct = await databaseWithSchema();
  const url = await behindPgBouncer(direct);
  const session = await openForTest(url);
  const before = await bystander(direct);
  await session.atomically((tx) => tx.execute('create table things (id bigint primary key)'));
  await session.query(sql`select id from things`);
  const other = await bystander(url);
  const settings = 'select name, setting from pg_settings order by name';
  const { rows: theirs } = await other.query<{ name: string; setting: string }>(settings);
  const { rows: plain } = await before.query<{ name: string; setting: string }>(settings);
  const differing = theirs.filter(({ setting }, at) => setting !== plain[at]?.setting);
  expect(differing.map(({ name }) => name).filter((name) => name !== 'application_name')).toEqual([]);
  await other.query('create table public.theirs (id integer)');
});

const THINGS = 'create table things (id bigint primary key, amount bigint)';

async function openWithThings(url: string, options: PostgresOptions = {}): Promise<Session> {
  const session = await openForTest(url, options);
  await session.atomically(async (tx) => {
    await tx.execute(THINGS);
    await tx.upsertRows({
      table: 'things',
      columns: ['id', 'amount'],
      rows: [
        [1, 0],
        [2, 0],
      ],
    });
  });
  return session;
}

const add = (tx: Transaction, id: number): Promise<unknown> =>
  tx.query(sql`update things set amount = amount + 1 where id = ${id}`);

const amounts = async (session: Session): Promise<unknown[]> =>
  (await session.query(sql`select amount from things order by id`)).map((row) => row['amount']);

describe('every transaction', () => {
  const settings = sql`select current_setting('TimeZone') as zone, current_setting('lock_timeout') as lock,
    current_setting('application_name') as app,
    current_setting('DateStyle') as dates, current_setting('statement_timeout') as statement,
    current_setting('idle_in_transaction_session_timeout') as idle, current_setting('tcp_user_timeout') as unread,
    current_setting('tcp_keepalives_idle') as alive`;

  test('has our settings, whatever those of the database are', async () => {
    const url = await freshDatabaseUrl();
    const admin = await bystander(url);
    const { rows } = await admin.query<{ name: string }>('select current_database() as name');
    for (const setting of [
      "TimeZone to 'America/St_Johns'",
      "DateStyle to 'SQL, DMY'",
      "statement_timeout to '1h'",
      "idle_in_transaction_session_timeout to '0'",
      "default_transaction_isolation to 'serializable'",
    ]) {
      await admin.query(`alter database ${rows[0]?.name ?? ''} set ${setting}`);
    }
    const session = await openForTest(url);
    const expected = {
      zone: 'UTC',
      lock: '2s',
      app: 'bms-sync',
      dates: 'ISO, YMD',
      statement: '0',
      idle: '8s',
      unread: '10000',
      alive: '5',
    };
    expect(await session.query(settings)).toEqual([expected]);
    expect(await session.atomically((tx) => tx.query(settings))).toEqual([expected]);
  });

  test('readers work side by side, and close waits for them', async () => {
    const session = await openForTest(await freshDatabaseUrl());
    const slow = Array.from({ length: 6 }, () => session.query(sql`select pg_sleep(0.05), 1 as one`));
    await session.close();
    expect((await Promise.all(slow)).map(([row]) => row?.['one'])).toEqual(Array(6).fill(1));
    await expect(session.query(sql`select 1`)).rejects.toThrow('closed');
    await expect(session.atomically(() => Promise.resolve())).rejects.toThrow('closed');
    await session.close();
  });
});

describe('a transaction', () => {
  test('whose failed statement was caught by the work lands nothing, and says so', async () => {
    const session = await openWithThings(await freshDatabaseUrl());
    const swallowed = session.atomically(async (tx) => {
      await add(tx, 1);
      await tx.query(sql`select 1 / 0`).catch(() => undefined);
    });
    await expect(swallowed).rejects.toThrow('division by zero');
    expect(await amounts(session)).toEqual([0, 0]);
  });

  test('tells the first fault, not that the statements after it were refused', async () => {
    const session = await openWithThings(await freshDatabaseUrl());
    const noRoom = sql`do $$ begin raise exception 'no' using errcode = 'disk_full'; end $$`;
    const failed = session.atomically(async (tx) => {
      await tx.write(noRoom); // Nobody waits for it: the next statement is the first to throw.
      await tx.query(sql`select 1`);
    });
    await expect(failed).rejects.toMatchObject({ code: 'mirror.disk_full' });
  });

  test('passes on an error of the work that is none of the database', async () => {
    const session = await openWithThings(await freshDatabaseUrl());
    const ours = new OtherSourceError('not mine', { code: 'mirror.other_source' });
    expect(await thrownBy(() => session.atomically(() => Promise.reject(ours)))).toBe(ours);
    const alike = new MirrorError('alike', { code: 'mirror.busy' });
    let runs = 0;
    const failed = session.atomically(() => {
      runs++;
      return Promise.reject(alike);
    });
    await expect(failed).rejects.toBe(alike);
    expect(runs).toBe(1);
  });

  test('forgets the type of a column that was undone', async () => {
    const session = await openWithThings(await freshDatabaseUrl());
    const rows = { table: 'things', columns: ['id', 'found'] };
    const undone = session.atomically(async (tx) => {
      await tx.execute('alter table things add column found bigint');
      await tx.upsertRows({ ...rows, rows: [[1, 5]] });
      await tx.readRowsById('things', ['found'], ['1']);
      throw new Error('half-way');
    });
    await expect(undone).rejects.toThrow('half-way');
    const found = await session.atomically(async (tx) => {
      await tx.execute('alter table things add column found text');
      await tx.upsertRows({ ...rows, rows: [[1, 'five']] });
      return tx.readRowsById('things', ['found'], ['1']);
    });
    expect(found).toEqual(new Map([['1', ['five']]]));
  });

  test('of one session waits for that of another: both read first and add up exactly', async () => {
    const url = await freshDatabaseUrl();
    const sessions = [await openWithThings(url), await openForTest(url)];
    const once = (session: Session): Promise<void> =>
      session.atomically(async (tx) => {
        const [row] = await tx.query(sql`select amount from things where id = 1`);
        await tx.query(sql`update things set amount = ${Number(row?.['amount']) + 1} where id = 1`);
      });
    await Promise.all(sessions.flatMap((session) => Array.from({ length: 40 }, () => once(session))));
    expect(await Promise.all(sessions.map(amounts))).toEqual([
      [80, 0],
      [80, 0],
    ]);
  });

  test('steps started side by side run one after the other', async () => {
    const session = await openWithThings(await freshDatabaseUrl());
    await session.atomically(async (tx) => {
      await Promise.all(Array.from({ length: 20 }, (_, index) => add(tx, 1 + (index % 2))));
    });
    expect(await amounts(session)).toEqual([10, 10]);
  });
});

describe('something in the way', () => {
  test('G13: a deadlock runs the work again', async () => {
    const url = await freshDatabaseUrl();
    const session = await openWithThings(url);
    const other = await bystander(url);
    await other.query(`set deadlock_timeout to '20s'; begin; update things set amount = 10 where id = 2`);
    let runs = 0;
    let theirs: Promise<unknown> = Promise.resolve();
    await session.atomically(async (tx) => {
      runs++;
      await add(tx, 1);
      if (runs === 1) theirs = other.query('update things set amount = 10 where id = 1; commit');
      await add(tx, 2);
    });
    await theirs;
    expect([runs, await amounts(session)]).toEqual([2, [11, 11]]);
  });

  test('G13: a serialization failure runs the work again, for ten seconds', async () => {
    const session = await openWithThings(await freshDatabaseUrl(), { clock: fakeClock() });
    const fail = sql`do $$ begin raise exception 'no' using errcode = '40001'; end $$`;
    let runs = 0;
    const failing = (until: number) =>
      session.atomically(async (tx) => {
        runs++;
        await add(tx, 1);
        if (runs < until) await tx.query(fail);
      });
    await failing(5);
    expect([runs, await amounts(session)]).toEqual([5, [1, 0]]);
    runs = 0;
    expect(await mirrorFault(() => failing(Infinity))).toBe('mirror.busy');
    expect([runs, await amounts(session)]).toEqual([10, [1, 0]]);
  });

  test('a lock that a reader holds is waited for once, then mirror.locked; and it goes on once the lock is gone', async () => {
    const url = await freshDatabaseUrl();
    const session = await openWithThings(url, { lockTimeoutMs: 50 });
    const other = await bystander(url);
    await other.query('begin; lock table things in exclusive mode');
    let runs = 0;
    const write = (): Promise<unknown> =>
      session.atomically((tx) => {
        runs++;
        return add(tx, 1);
      });
    expect([await mirrorFault(write), runs]).toEqual(['mirror.locked', 1]);
    expect(await amounts(session)).toEqual([0, 0]); // Reading goes on.
    await other.query('commit');
    await write();
    expect(await amounts(session)).toEqual([1, 0]);
  });
});

test('a connection lives for a minute: after a failover the address leads to another server', async () => {
  const clock = fakeClock();
  const session = await openForTest(await freshDatabaseUrl(), { clock });
  const reader = (): Promise<unknown> => session.query(sql`select pg_backend_pid()`);
  const writer = (): Promise<unknown> => session.atomically((tx) => tx.query(sql`select pg_backend_pid()`));
  const first = [await reader(), await writer()];
  expect([await reader(), await writer()]).toEqual(first);
  await clock.sleep(60_001);
  const later = [await reader(), await writer()];
  expect(later.map((pid, at) => JSON.stringify(pid) === JSON.stringify(first[at]))).toEqual([false, false]);
});
