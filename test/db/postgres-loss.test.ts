import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { bystander, freshDatabaseUrl } from '../support/postgres.ts';
import { openForTest, proxyTo, type Cut } from '../store/postgres-mirror.ts';
import { mirrorFault } from '../store/temp-mirror.ts';

async function openWithThings(url: string): Promise<Session> {
  const session = await openForTest(url);
  await draw(session);
  return session;
}

async function draw(session: Session): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.execute('create table things (id bigint primary key, amount bigint)');
    await tx.execute('create table totals (id bigint primary key, amount bigint)');
    await tx.insertRows({ table: 'totals', columns: ['id', 'amount'], rows: [[1, 0]] });
  });
}

/** Ends every connection of bms-sync to this database. */
const terminate = (other: pg.Client): Promise<unknown> =>
  other.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where application_name = 'bms-sync' and datname = current_database()`);

/** Appends a row that cannot land twice, and adds to a total that would show it. */
async function land(session: Session, id: number, between?: () => Promise<unknown>): Promise<number> {
  let runs = 0;
  await session.atomically(async (tx) => {
    runs++;
    await tx.insertRows({ table: 'things', columns: ['id', 'amount'], rows: [[id, 1]] });
    if (runs === 1) await between?.();
    await tx.query(sql`update totals set amount = amount + 1`);
  });
  return runs;
}

const landed = async (session: Session): Promise<unknown> => {
  const [row] = await session.query(
    sql`select (select count(*) from things) as rows, amount as total from totals`,
  );
  return row;
};

describe('G05: a connection that is lost', () => {
  test('between statements: the work runs again from its start', async () => {
    const url = await freshDatabaseUrl();
    const session = await openWithThings(url);
    const other = await bystander(url);
    for (let id = 0; id < 5; id++) expect(await land(session, id, () => terminate(other))).toBe(2);
    expect(await landed(session)).toEqual({ rows: 5, total: 5 });
  });

  test('after the last statement: the work runs again from its start', async () => {
    const url = await freshDatabaseUrl();
    const session = await openWithThings(url);
    const other = await bystander(url);
    let runs = 0;
    await session.atomically(async (tx) => {
      runs++;
      await tx.insertRows({ table: 'things', columns: ['id'], rows: [[1]] });
      await tx.query(sql`update totals set amount = amount + 1`);
      if (runs === 1) await terminate(other);
    });
    expect([runs, await landed(session)]).toEqual([2, { rows: 1, total: 1 }]);
  });

  test('as soon as the server has let us in, five times: it is opened again', async () => {
    const proxy = await proxyTo(await freshDatabaseUrl());
    const clock = fakeClock();
    proxy.cutOpenings(5);
    const session = await openForTest(proxy.url, { clock });
    expect(await session.query(sql`select 1 as one`)).toEqual([{ one: 1 }]);
    expect(clock.sleeps).toEqual([50, 100, 200, 400]); // The second attempt is made at once.
  });

  test('as soon as the server has let us in, for good: it is told after ten seconds at most', async () => {
    const proxy = await proxyTo(await freshDatabaseUrl());
    const clock = fakeClock();
    proxy.cutOpenings(Infinity);
    expect(await mirrorFault(() => openForTest(proxy.url, { clock }))).toBe('mirror.connection_lost');
    expect(clock.monotonicMs()).toBeLessThanOrEqual(10_000);
  });

  test('while nothing is going on: nobody notices', async () => {
    const url = await freshDatabaseUrl();
    const session = await openWithThings(url);
    const other = await bystander(url);
    await landed(session);
    await terminate(other);
    expect(await land(session, 1)).toBe(1);
    await terminate(other);
    expect(await Promise.all([landed(session), landed(session), landed(session)])).toEqual(
      Array(3).fill({ rows: 1, total: 1 }),
    );
  });

  test('while a query reads: it reads again', async () => {
    const url = await freshDatabaseUrl();
    const session = await openWithThings(url);
    const other = await bystander(url);
    const reading = session.query(sql`select pg_sleep(0.5), 1 as value`);
    const asleep = `select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
    while ((await other.query(asleep)).rows.length === 0) await new Promise(setImmediate);
    await terminate(other);
    expect((await reading)[0]?.['value']).toBe(1);
  });

  const CUTS: readonly Cut[] = ['before COMMIT', 'after COMMIT', 'at the answer'];

  test('at COMMIT, thirty times: nothing is lost and nothing lands twice', async () => {
    const proxy = await proxyTo(await freshDatabaseUrl());
    const session = await openWithThings(proxy.url);
    const runs: Record<Cut, number[]> = { 'before COMMIT': [], 'after COMMIT': [], 'at the answer': [] };
    for (let id = 0; id < 30; id++) {
      const cut = CUTS[id % 3] ?? 'before COMMIT';
      proxy.cutAtCommit(cut);
      runs[cut].push(await land(session, id));
      expect(await landed(session)).toEqual({ rows: id + 1, total: id + 1 });
    }
    expect(runs['before COMMIT']).toEqual(Array(10).fill(2)); // It never arrived.
    expect(runs['at the answer']).toEqual(Array(10).fill(1)); // It had landed: the work must not run again.
    expect(runs['after COMMIT'].every((times) => times === 1 || times === 2)).toBe(true);
  });

  test('because the server ends it in the midst of COMMIT: the work runs again', async () => {
    const url = await freshDatabaseUrl();
    const session = await openWithThings(url);
    const other = await bystander(url);
    await other.query(`create sequence tries;
      create function end_first() returns trigger language plpgsql as $$ begin
        if nextval('tries') = 1 then perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); end if;
        return null; end $$;
      create constraint trigger at_commit after insert on things deferrable initially deferred
        for each row execute function end_first()`);
    expect(await land(session, 1)).toBe(2);
    expect(await landed(session)).toEqual({ rows: 1, total: 1 });
  });

  test('for good: it is told after ten seconds at most', async () => {
    const proxy = await proxyTo(await freshDatabaseUrl());
    const clock = fakeClock();
    const session = await openForTest(proxy.url, { clock });
    await proxy.stop();
    const fault = await mirrorFault(() => session.atomically(() => Promise.resolve()));
    expect(fault).toBe('mirror.unreachable');
    expect(clock.monotonicMs()).toBeGreaterThan(5_000);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(10_000);
    expect(clock.sleeps.slice(0, 4)).toEqual([50, 100, 200, 400]);
  });

  test.each(CUTS)('for good at COMMIT (%s): it says that nobody can tell', async (cut) => {
    const proxy = await proxyTo(await freshDatabaseUrl());
    const session = await openForTest(proxy.url, { clock: fakeClock() });
    await draw(session);
    proxy.cutAtCommit(cut, 'forGood');
    expect(await mirrorFault(() => land(session, 1))).toBe('mirror.commit_unknown');
  });
});
