import { expect, test } from 'vitest';
import { createBullmqBell } from '../../src/jobs/bullmq-bell.ts';
import type { Bell } from '../../src/jobs/bell.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { canary } from '../support/canary.ts';
import { bystander, freshDatabaseUrl } from '../support/postgres.ts';
import { freePort } from '../support/redis-server.ts';
import {
  LONGEST_WAIT_MS,
  QUICK,
  longest,
  memoryLog,
  startTestEngine,
  workQueue,
  workSession,
} from './support.ts';

const CUT =
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';

async function stage(url: string) {
  const [session, log] = [await workSession(), memoryLog()];
  const work = workQueue(session);
  const bell: Bell = createBullmqBell(url, { clock: systemClock, logger: log.logger, pace: QUICK });
  startTestEngine({ session, bell, work: [work], log });
  return { work, bell, log };
}

async function heard(bell: Bell): Promise<void> {
  while ((await bell.beat()) !== 'heard') await systemClock.sleep(20);
}

test('rows are worked once each, and soon, while the server ends its connections five times', async () => {
  const url = await freshDatabaseUrl();
  const { work, bell } = await stage(url);
  const other = await bystander(url);
  await heard(bell);
  for (let i = 0; i < 5; i += 1) {
    await work.insert(10);
    await systemClock.sleep(20);
    await other.query(CUT);
    await work.insert(10);
    await systemClock.sleep(50);
  }
  await work.done(100);
  expect(await work.counts()).toEqual(Array(100).fill(1));
  expect(longest(work.waits)).toBeLessThan(LONGEST_WAIT_MS);
  await heard(bell);
});

test('rows are worked once each, and soon, while the server ends its connections as they are made', async () => {
  const url = await freshDatabaseUrl();
  const other = await bystander(url);
  const { work, bell } = await stage(url); // With all tables of the queue still to be set up.
  for (let i = 0; i < 50; i += 1) {
    if (i % 10 === 0) await work.insert(10);
    await other.query(CUT);
    await systemClock.sleep(i / 2);
  }
  await work.done(50);
  expect(await work.counts()).toEqual(Array(50).fill(1));
  expect(longest(work.waits)).toBeLessThan(LONGEST_WAIT_MS);
  await heard(bell);
});

test.each([
  ['nobody listens', async () => `postgres://u:p@127.0.0.1:${await freePort()}/db`],
  [
    'the password is wrong',
    async () => {
      const url = new URL(await freshDatabaseUrl());
      url.password = canary('-wrong');
      return url.href;
    },
  ],
])('rows are worked without the bell where %s, and closing does not hang', async (_, address) => {
  const { work, bell, log } = await stage(await address());
  await work.insert(10);
  await work.done(10);
  expect(longest(work.waits)).toBeLessThan(LONGEST_WAIT_MS);
  expect(await bell.beat()).toBe('unsent');
  expect(log.lines.length).toBeLessThan(10);
});
