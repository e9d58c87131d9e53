import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Session } from '../../../src/db/session/session.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { bystander, freshDatabaseUrl } from '../../support/postgres.ts';
import { postgresMirror } from '../../both/support.ts';
import { startChild } from '../../store/child.ts';
import { migrate } from '../../../src/views/migrate.ts';
import { openForTest } from '../../store/postgres-mirror.ts';
import { gate, kindNamed, mirrorFault } from '../../store/temp-mirror.ts';

const KINDS = [kindNamed('clients')];

/** A mirror, with a table of one number beside it. */
async function mirrorWithTotal(): Promise<{ readonly url: string; readonly session: Session }> {
  const { url, session } = await postgresMirror('template_two_kinds');
  await session.atomically(async (tx) => {
    await tx.execute('create table totals (amount bigint)');
    await tx.query(sql`insert into totals values (0)`);
  });
  return { url, session };
}

const add = (session: Session): Promise<unknown> =>
  session.atomically((tx) => tx.query(sql`update totals set amount = amount + 1`));

const total = async (session: Session): Promise<unknown> =>
  (await session.query(sql`select amount from totals`))[0]?.['amount'];

/** Stops a process inside its transaction, where it does nothing or reads, and lets others write meanwhile. */
async function writeBesideStopped(how: 'idle' | 'reading'): Promise<void> {
  const { url, session } = await mirrorWithTotal();
  const child = startChild('frozen-writer.ts', url, how);
  expect((await child.lines.next()).value).toBe('inside');
  child.signal('SIGSTOP');
  const writes = 5;
  for (let i = 0; i < writes; i++) await add(session);
  expect(await total(session), how).toBe(writes);
  child.signal('SIGCONT');
  expect((await child.lines.next()).value).toBe('landed after 2');
  expect(await total(session), how).toBe(writes + 1);
}

test('others write beside a process that is stopped inside a transaction, idle or reading; once it goes on it does its work again, once', async () => {
  await Promise.all([writeBesideStopped('idle'), writeBesideStopped('reading')]);
});

describe('the lock of those who write', () => {
  test('cannot be taken by a role that may only log in', async () => {
    const { url, session } = await mirrorWithTotal();
    const admin = await bystander(url);
    const role = `guest_${randomUUID().slice(0, 8)}`;
    await admin.query(`create role ${role} login password 'guest'`);
    onTestFinished(async () => {
      await admin.query(`drop role ${role}`);
    });
    const asGuest = new URL(url);
    [asGuest.username, asGuest.password] = [role, 'guest'];
    const guest = await bystander(asGuest.href);
    await guest.query('begin');
    await guest.query('select pg_advisory_lock(7237970109), pg_advisory_xact_lock(7237970109)');
    await add(session);
    await expect(guest.query('select * from mirror_meta for update')).rejects.toThrow(
      /permission denied|does not exist/,
    );
    await add(session);
    expect(await total(session)).toBe(2);
    await guest.query('rollback');
  });

  test('is waited for, for two minutes', async () => {
    const { url, session } = await mirrorWithTotal();
    const clock = fakeClock();
    const hasty = { ...clock, sleep: () => clock.sleep(25_000) };
    const ours = await openForTest(url, { lockTimeoutMs: 20, clock: hasty });
    const begun = gate();
    const done = gate();
    const writing = session.atomically(async () => {
      begun.open();
      await done.opened;
    });
    await begun.opened;
    expect(await mirrorFault(() => add(ours))).toBe('mirror.writer_busy');
    expect(clock.sleeps).toHaveLength(5);
    const waiting = add(await openForTest(url, { lockTimeoutMs: 20 }));
    done.open();
    await Promise.all([writing, waiting]);
    expect(await total(session)).toBe(1);
  });

  test('has its row again after somebody has deleted it', async () => {
    const { url, session } = await mirrorWithTotal();
    const other = await openForTest(url);
    await session.atomically((tx) => tx.query(sql`delete from mirror_meta where key = 'writer'`));
    const readThenWrite = (each: Session): Promise<unknown> =>
      each.atomically(async (tx) => {
        const [row] = await tx.query(sql`select amount from totals`);
        await tx.query(sql`update totals set amount = ${Number(row?.['amount']) + 1}`);
      });
    await Promise.all(
      [session, other].flatMap((each) => Array.from({ length: 20 }, () => readThenWrite(each))),
    );
    expect(await total(session)).toBe(40);
  });

  test('keeps those apart who make a mirror at the same moment', async () => {
    const url = await freshDatabaseUrl();
    const sessions = await Promise.all([openForTest(url), openForTest(url), openForTest(url)]);
    const made = await Promise.all(sessions.map((session) => migrate(session, KINDS)));
    expect(made.filter((had) => had)).toHaveLength(1);
  });
});
