import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { bullmqNotifier, memoryLog, ownPrefix, workQueue, workSession } from '../engine/support.ts';

const LOG = 'mirror';

async function notifying() {
  const session = await workSession();
  const log = memoryLog();
  const prefix = ownPrefix();
  const { queue } = workQueue(session);
  const notifier = bullmqNotifier(inject('redisUrl'), log, prefix);
  const store = new Queue(`${prefix}-work`, { connection: { url: inject('redisUrl') } });
  onTestFinished(async () => {
    await Promise.all([notifier.close(), store.close()]);
  });
  return { queue, notifier, store };
}

/** A worker that never ends its work, so that its jobs can be seen. */
async function holding() {
  const on = await notifying();
  const ends: (() => void)[] = [];
  on.notifier.subscribe(on.queue, () => new Promise((resolve) => ends.push(() => resolve(null))));
  onTestFinished(() => {
    for (const end of ends) end();
  });
  return on;
}

const IN_QUEUE = ['waiting', 'active'] as const;

test('F05 F11 a job carries a number and an epoch, nothing else of its row, and one attempt; the same ref twice is one job', async () => {
  const { queue, notifier, store } = await holding();
  const row = { id: 41, epoch: 3, task: 'create clients', payload: 'canary' };
  while (!(await notifier.notify(queue, [row], LOG))) await systemClock.sleep(10);
  const client = new Redis(inject('redisUrl'));
  const stored = await client.hgetall(`bull:${store.name}:${LOG}-41-3`);
  client.disconnect();
  expect(JSON.stringify(stored)).not.toContain('canary');
  await notifier.notify(queue, [row], LOG);
  const jobs = await store.getJobs([...IN_QUEUE]);
  expect(jobs).toHaveLength(1);
  const [job] = jobs;
  expect(job).toMatchObject({ id: `${LOG}-41-3`, name: 'create clients', data: { id: 41, epoch: 3 } });
  expect(job?.opts).toMatchObject({ attempts: 1, stackTraceLimit: 0 });
});

test('after closing nothing is sent', async () => {
  const { queue, notifier } = await notifying();
  await notifier.close();
  expect(await notifier.notify(queue, [{ id: 2, epoch: 0, task: 'create clients' }], LOG)).toBe(false);
});

test('jobs that one process adds another one takes, at most as many at once as the queue allows', async () => {
  const { queue, notifier } = await notifying();
  const ends: (() => void)[] = [];
  let now = 0;
  let most = 0;
  let all = 0;
  notifier.subscribe(queue, async () => {
    most = Math.max(most, ++now);
    all += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    now -= 1;
    return null;
  });
  const refs = [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id, epoch: 0, task: 'create clients' }));
  while (!(await notifier.notify(queue, refs, LOG))) await systemClock.sleep(10);
  while (all < refs.length) {
    await systemClock.sleep(10);
    for (const end of ends.splice(0)) end();
  }
  expect(most).toBe(queue.concurrency);
});

test('tells the queue’s own figures, each name explained once', async () => {
  const { queue, notifier } = await holding();
  const notify = () => notifier.notify(queue, [{ id: 7, epoch: 0, task: 'create clients' }], LOG);
  await expect.poll(notify, { timeout: 60_000 }).toBe(true); // A slow machine lets a first attempt run out of time.
  const text = (await notifier.metrics?.()) ?? '';
  expect(text).toMatch(/^bullmq_job_count\{queue="[^"]+-work", state="(?:waiting|active)"\} 1$/m);
  expect(text.match(/^# TYPE bullmq_job_count /gm)).toHaveLength(1);
});
