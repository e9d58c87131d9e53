import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createBullmqBell } from '../../src/jobs/bullmq-bell.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { UsageError } from '../../src/lib/sync-error.ts';
import { thrownBy } from '../mirror/temp-mirror.ts';
import { QUICK, memoryLog, ownPrefix, workQueue, workSession } from './support.ts';

test.each(['', 'localhost:6379', 'http://localhost:6379', 'mysql://localhost/db', 'file:./mirror.db'])(
  'an address that is none is refused, and not repeated: it may hold a password: %j',
  async (url) => {
    const error = await thrownBy(() =>
      createBullmqBell(url, { clock: systemClock, logger: memoryLog().logger }),
    );
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({
      code: 'jobs.bad_address',
      message: expect.not.stringContaining(url || 'x') as string,
    });
  },
);

async function ringing() {
  const [session, log, prefix] = [await workSession(), memoryLog(), ownPrefix()];
  const { queue } = workQueue(session);
  const bell = createBullmqBell(inject('redisUrl'), {
    clock: systemClock,
    logger: log.logger,
    pace: QUICK,
    prefix,
  });
  const store = new Queue(`${prefix}-work`, { connection: { url: inject('redisUrl') } });
  onTestFinished(async () => {
    await Promise.all([bell.close(), store.close()]);
  });
  return { queue, bell, store };
}

test('F05 F11 a job carries a number and an epoch, one attempt, and leaves nothing behind', async () => {
  const { queue, bell, store } = await ringing();
  while (!(await bell.ring(queue, [{ id: 41, epoch: 3 }]))) await systemClock.sleep(10);
  const [job] = await store.getJobs(['waiting']);
  expect(job).toMatchObject({ id: 'wk-41-3', name: 'ring', data: { id: 41, epoch: 3 } });
  expect(job?.opts).toMatchObject({ attempts: 1, removeOnComplete: true, removeOnFail: true });
});

test('rows with further columns put no more than these into the store', async () => {
  const { queue, bell, store } = await ringing();
  const row = { id: 41, epoch: 3, payload: 'canary' };
  while (!(await bell.ring(queue, [row]))) await systemClock.sleep(10);
  const client = new Redis(inject('redisUrl'));
  const stored = await client.hgetall(`bull:${store.name}:wk-41-3`);
  client.disconnect();
  expect(JSON.stringify(stored)).not.toContain('canary');
});

test('the same ring twice is one job', async () => {
  const { queue, bell, store } = await ringing();
  while (!(await bell.ring(queue, [{ id: 1, epoch: 0 }]))) await systemClock.sleep(10);
  await bell.ring(queue, [{ id: 1, epoch: 0 }]);
  expect(await store.count()).toBe(1);
});

test('a bell that nobody listens to here leaves heartbeats to others, and can be closed', async () => {
  const { queue, bell } = await ringing();
  await bell.ring(queue, [{ id: 1, epoch: 0 }]);
  expect(await bell.beat()).toBe('heard');
  await bell.close();
  expect(await bell.ring(queue, [{ id: 2, epoch: 0 }])).toBe(false);
});

test('a heartbeat behind full hands is busy, and is heard again after', async () => {
  const { queue, bell } = await ringing();
  const ends: (() => void)[] = [];
  await bell.listen(queue, () => new Promise((resolve) => ends.push(resolve)));
  const rings = [1, 2, 3, 4].map((id) => ({ id, epoch: 0 }));
  while (!(await bell.ring(queue, rings))) await systemClock.sleep(10);
  while (ends.length < 4) await systemClock.sleep(10);
  expect(await bell.beat()).toBe('busy');
  for (const end of ends) end();
  expect(await bell.beat()).toBe('heard');
});

test('a heartbeat that another process takes counts: rings arrive', async () => {
  const { queue, bell, store } = await ringing();
  const other = createBullmqBell(inject('redisUrl'), {
    clock: systemClock,
    logger: memoryLog().logger,
    pace: QUICK,
    prefix: store.name.slice(0, -'-work'.length),
  });
  onTestFinished(() => other.close());
  await Promise.all([bell, other].map((each) => each.listen(queue, () => Promise.resolve())));
  while ((await bell.beat()) === 'unsent') await systemClock.sleep(10);
  for (let i = 0; i < 8; i += 1) expect(await bell.beat()).toBe('heard');
});

test('tells the queue’s own figures, each name explained once', async () => {
  const { queue, bell } = await ringing();
  expect(await bell.ring(queue, [{ id: 7, epoch: 0 }])).toBe(true);
  const text = (await bell.metrics?.()) ?? '';
  expect(text).toMatch(/^bullmq_job_count\{queue="[^"]+-work", state="waiting"\} 1$/m);
  expect(text.match(/^# TYPE bullmq_job_count /gm)).toHaveLength(1);
});
