import { expect, test } from 'vitest';
import { createBullmqNotifier } from '../../../src/jobs/bullmq/notifier.ts';
import type { Notifier } from '../../../src/jobs/notifier.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { canary } from '../../support/canary.ts';
import { bystander, freshDatabaseUrl } from '../../support/postgres.ts';
import { freePort } from '../../support/redis-server.ts';
import {
  LONGEST_WAIT_MS,
  QUICK,
  longest,
  memoryLog,
  startTestEngine,
  throughTheQueue,
  workQueue,
  workSession,
} from '../support.ts';

const CUT =
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';

async function stage(url: string) {
  const [session, log] = [await workSession(), memoryLog()];
  const work = workQueue(session);
  const notifier: Notifier = createBullmqNotifier(url, {
    clock: systemClock,
    logger: log.logger,
    timings: QUICK,
  });
  startTestEngine({ session, notifier, work: [work], log });
  return { work, notifier, log };
}

test('rows are worked once each, and soon, while the server ends its connections five times', async () => {
  const url = await freshDatabaseUrl();
  const { work } = await stage(url);
  const other = await bystander(url);
  await throughTheQueue(work, 0);
  const before = (await work.counts()).length;
  for (let i = 0; i < 5; i += 1) {
    await work.insert(10);
    await systemClock.sleep(20);
    await other.query(CUT);
    await work.insert(10);
    await systemClock.sleep(50);
  }
  await work.done(before + 100);
  expect(await work.counts()).toEqual(Array(before + 100).fill(1));
  expect(longest(work.waits)).toBeLessThan(LONGEST_WAIT_MS);
  await throughTheQueue(work, before + 100);
});

test('rows are worked once each, and soon, while the server ends its connections as they are made', async () => {
  const url = await freshDatabaseUrl();
  const other = await bystander(url);
  const { work } = await stage(url); // With all tables of the queue still to be set up.
  for (let i = 0; i < 50; i += 1) {
    if (i % 10 === 0) await work.insert(10);
    await other.query(CUT);
    await systemClock.sleep(i / 2);
  }
  await work.done(50);
  expect(await work.counts()).toEqual(Array(50).fill(1));
  expect(longest(work.waits)).toBeLessThan(LONGEST_WAIT_MS);
  await throughTheQueue(work, 50);
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
])('rows are worked without the notifier where %s, and closing does not hang', async (_, address) => {
  const { work, notifier, log } = await stage(await address());
  await work.insert(10);
  await work.done(10);
  expect(longest(work.waits)).toBeLessThan(LONGEST_WAIT_MS);
  expect(await notifier.notify(work.queue, [{ id: 1, epoch: 0 }])).toBe(false);
  expect(log.lines.length).toBeLessThan(10);
});
