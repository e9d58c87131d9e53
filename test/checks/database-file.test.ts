import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { checkWhenDue, startDailyCheck } from '../../src/checks/database-file.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { checkIntegrity, readDamage } from '../../src/store/integrity-check.ts';
import { claimKind } from '../../src/store/kinds/kind-lease.ts';
import { migrate } from '../../src/views/migrate.ts';
import { requestPull } from '../../src/store/runs/run-requests.ts';
import type { Session } from '../../src/db/session/session.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import { memoryLog } from '../runs/engine/support.ts';
import { damagePages } from '../store/damage.ts';
import { mirror } from '../pull/support.ts';
import { document, run } from '../support/command-line.ts';
import { ask } from '../support/mirror-file.ts';
import { freshMirror } from '../support/temp-folder.ts';

const HOUR = 3_600_000;

/** What checks a mirror, at a time that the test sets. */
function checkerOf(session: Session) {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const log = memoryLog();
  const clock = { ...systemClock, now: () => new Date(now) };
  const owner = 'here';
  const process = { session, clock, logger: log.logger, owner };
  return {
    log,
    clock,
    check: () => checkWhenDue(process),
    pass: (ms: number): void => {
      now += ms;
    },
  };
}

test('the file is checked once a day', async () => {
  const { log, check, pass } = checkerOf(await mirror());
  await check();
  for (let hour = 0; hour < 24; hour++) {
    expect(log.lines).toHaveLength(1);
    pass(HOUR);
    await check();
  }
  expect(log.lines).toHaveLength(2);
});

test('it waits while a pull is asked for, a kind is read or an entry is sent', async () => {
  const session = await mirror();
  const { log, clock, check } = checkerOf(session);
  const now = clock.now();
  const run = await session.atomically((tx) => requestPull(tx, { kinds: ['clients'], request: 'x', now }));
  await check();
  await session.atomically((tx) => tx.query(sql`update runs set state = 'done' where id = ${run}`));
  await claimKind(session, 'clients', 'other');
  await check();
  await session.atomically((tx) => tx.query(sql`update kind_state set owner = null`));
  await session.atomically((tx) =>
    tx.query(sql`
      insert into outbox (idempotency_key, kind, operation, payload, state)
      values ('a', 'clients', 'create', '{}', 'sending')`),
  );
  await check();
  expect(log.lines).toEqual([]);
  await session.atomically((tx) => tx.query(sql`update outbox set state = 'done'`));
  await check();
  expect(log.lines).toHaveLength(1);
});

test('a damaged file is an error in the log, in status and for doctor, until a check finds it sound', async () => {
  const path = freshMirror();
  {
    await using fresh = openSqliteSession(path);
    await migrate(fresh, KINDS);
  }
  const [table] = ask(path, `select rootpage from sqlite_schema where name = 'clients'`);
  damagePages(path, [Number(table?.['rootpage'])]);
  const session = openSqliteSession(path);
  onTestFinished(() => session.close());
  const { log, check } = checkerOf(session);

  await check();

  expect(log.lines).toEqual([
    expect.objectContaining({ level: 50, msg: expect.stringContaining('is damaged') as string }),
  ]);
  expect(await readDamage(session)).toEqual({
    reason: expect.stringMatching(/^the database file is damaged: /) as string,
    since: '2026-03-01 12:00:00.000',
  });
  const examined = await run(['doctor', '--json'], { DATABASE_URL: `file:${path}` });
  expect((document(examined) as { checks: readonly unknown[] }).checks).toContainEqual(
    expect.objectContaining({ name: 'database.integrity', ok: false, code: 'mirror.damaged' }),
  );
});

test('a check that cannot be made is a fault in the log, and made at the next look', async () => {
  const session = await mirror();
  const log = memoryLog();
  let looks = 0;
  const atomically: Session['atomically'] = (work) =>
    looks === 0 ? Promise.reject(new Error('away')) : session.atomically(work);
  await new Promise<void>((resolve) => {
    const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
      if (looks === 1) resolve();
      looks += 1;
      return looks === 1 ? Promise.resolve() : systemClock.sleep(ms, signal);
    };
    const clock = { ...systemClock, sleep };
    const owner = 'here';
    const flaky = { ...session, atomically };
    onTestFinished(startDailyCheck({ session: flaky, clock, logger: log.logger, owner }));
  });
  expect(log.lines.map(({ msg }) => msg)).toEqual([
    'the database file is sound',
    'checking the database file failed',
    'the database file is sound',
  ]);
});

test('status names the damage first', async () => {
  const path = freshMirror();
  const env = { DATABASE_URL: `file:${path}` };
  await run(['migrate'], env);
  {
    await using session = openSqliteSession(path);
    const check = JSON.stringify({ checkedAt: '2026-03-01 12:00:00.000', findings: ['page 7', 'page 8'] });
    await session.atomically((tx) =>
      tx.query(sql`insert into mirror_meta (key, value) values ('integrity', ${check})`),
    );
  }
  const reason = 'the database file is damaged: page 7 (and 1 more)';
  expect((await run(['status'], env)).stdout).toContain(
    `Needs you: The mirror can no longer be trusted. T${reason.slice(1)}. Since 2026-03-01 12:00:00 UTC. (bms-sync doctor)`,
  );
  expect(document(await run(['status', '--json'], env))).toMatchObject({ damage: { reason } });
});

test('a file that was cut within its last page is reported', async () => {
  const session = await mirror();
  const path = session.location;
  await session.close();
  truncateSync(path, statSync(path).size - 100);
  expect(await checkIntegrity({ ...session, location: path })).toEqual(['the file ends within a page']);
});

test('a file whose stored view was damaged is reported as such, not as a bug', async () => {
  const session = await mirror();
  const path = session.location;
  await session.close();
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf('count('); at !== -1; at = bytes.indexOf('count(', at + 1))
    bytes.write('coun4(', at);
  writeFileSync(path, bytes);
  const ended = await run(['status', '--json'], { DATABASE_URL: `file:${path}` });
  expect([ended.code, document(ended)]).toEqual([
    1,
    { error: expect.objectContaining({ code: 'mirror.unreadable_schema' }) as unknown },
  ]);
});
