import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import fc from 'fast-check';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createBullmqNotifier } from '../../../src/runs/bullmq/notifier.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { freshRedis } from '../../support/redis.ts';
import { QUICK, memoryLog, ownPrefix, startTestEngine, workQueue, workSession } from '../engine/support.ts';

async function stage(url: string) {
  const session = await workSession();
  const log = memoryLog();
  const prefix = ownPrefix();
  const work = workQueue(session);
  const notifier = createBullmqNotifier(url, {
    clock: systemClock,
    logger: log.logger,
    timings: QUICK,
    prefix,
  });
  startTestEngine({ session, notifier, work: [work], log });
  return { work, log, name: `${prefix}-work` };
}

test('F11 two hundred jobs of strangers do nothing and are counted', async () => {
  const url = inject('redisUrl');
  const { work, log, name } = await stage(url);
  await work.insert(1);
  await work.done(1);
  const before = work.heard.length;
  const queue = new Queue(name, { connection: { url } });
  onTestFinished(() => queue.close());
  const data = fc.oneof(
    fc.jsonValue(),
    fc.record({ id: fc.jsonValue(), epoch: fc.jsonValue() }),
    fc.record({ id: fc.nat(), epoch: fc.nat(), sql: fc.string() }),
  );
  const junk = fc.sample(fc.tuple(fc.constantFrom('work', 'beat', 'Ring', '__proto__', ''), data), 200);
  for (const [jobName, jobData] of junk) await queue.add(jobName, jobData);
  while (!log.lines.some(({ dropped }) => dropped === 100)) await systemClock.sleep(10);
  await work.insert(20);
  await work.done(21);
  expect(await work.counts()).toEqual(Array(21).fill(1));
  const refs = work.heard.slice(before).filter(({ id }) => id > 21);
  for (const ref of refs) expect(Object.keys(ref)).toEqual(['id', 'epoch']);
});

test('F11 keys of the queue that hold anything but what BullMQ keeps there delay rows and lose none', async () => {
  const redis = await freshRedis();
  const { work, name } = await stage(redis.url);
  await work.insert(1);
  await work.done(1);
  const client = new Redis(redis.url);
  onTestFinished(() => {
    client.disconnect();
  });
  await client.hset(`bull:${name}:broken`, {
    name: 'work',
    data: '{not json',
    opts: '{also not',
    timestamp: 'x',
  });
  await client.rpush(
    `bull:${name}:wait`,
    'broken',
    'absent',
    ...Array.from({ length: 50 }, (__, i) => `none-${i}`),
  );
  await client.zadd(`bull:${name}:marker`, 0, '0');
  await work.insert(20);
  await work.done(21);
  await client.set(`bull:${name}:wait`, 'a text, no list');
  await work.insert(20);
  await work.done(41);
  expect(await work.counts()).toEqual(Array(41).fill(1));
});

test('F04 a Redis without room for a job delays rows and loses none', async () => {
  const redis = await freshRedis('--maxmemory', '1mb', '--maxmemory-policy', 'noeviction');
  const { work } = await stage(redis.url);
  await work.insert(20);
  await work.done(20);
  expect(await work.counts()).toEqual(Array(20).fill(1));
});
