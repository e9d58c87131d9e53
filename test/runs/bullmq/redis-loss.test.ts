import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createBullmqNotifier } from '../../../src/runs/bullmq/notifier.ts';
import type { Notifier } from '../../../src/runs/engine/notifier.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { freshRedis, proxyToRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { byTheClock, sized } from '../../support/tiers.ts';
import {
  QUICK,
  expectSoon,
  memoryLog,
  startTestEngine,
  workQueue,
  workSession,
  type Log,
} from '../engine/support.ts';

const ROUNDS = sized({ quick: 15, acceptance: 150, deep: 150 });

const notifierOf = (url: string, log: Log, timings = QUICK): Notifier =>
  createBullmqNotifier(url, { clock: systemClock, logger: log.logger, timings });

const row = (id: number) => ({ id, epoch: 0, task: 'work' });

const pause = (ms: number): Promise<void> => systemClock.sleep(ms);

async function stage(url: string) {
  const session = await workSession();
  const log = memoryLog();
  const work = workQueue(session, { handle: () => pause(2) });
  let jobs = 0;
  const notifier = notifierOf(url, log);
  const subscribe: Notifier['subscribe'] = (queue, handler) => {
    notifier.subscribe(queue, (...job) => {
      jobs += 1;
      return handler(...job);
    });
  };
  startTestEngine({ session, notifier: { ...notifier, subscribe }, work: [work], log });
  /** Works rows one by one until the queue has brought one. */
  const throughTheQueue = async (done: number): Promise<void> => {
    const before = jobs;
    for (let all = done + 1; jobs === before; all += 1) {
      await work.insert(1);
      await work.done(all);
    }
  };
  return { work, notifier, throughTheQueue };
}

function clientOf(server: RedisServer): Redis {
  const client = new Redis(server.url);
  client.on('error', () => undefined);
  onTestFinished(() => {
    client.disconnect();
  });
  return client;
}

test('F02 rows are worked once each, and soon, while Redis is flushed twenty times', async () => {
  const redis = await freshRedis();
  const { work } = await stage(redis.url);
  const client = clientOf(redis);
  for (let i = 0; i < 20; i += 1) {
    await work.insert(10);
    await work.done(15 * i + 1); // In the midst of them.
    await client.flushall();
    await work.insert(5);
  }
  await work.done(300);
  expect(await work.counts()).toEqual(Array(300).fill(1));
  expectSoon(work);
});

test('F03 the same while Redis is killed five times and has forgotten all', async () => {
  const redis = await freshRedis();
  const { work } = await stage(redis.url);
  for (let i = 0; i < 5; i += 1) {
    await work.insert(20);
    await work.done(60 * i + 1);
    await redis.kill9();
    await work.insert(20);
    await work.done(60 * i + 21);
    await redis.start();
    await work.insert(20);
  }
  await work.done(300);
  expect(await work.counts()).toEqual(Array(300).fill(1));
  expectSoon(work);
});

test('an outage of Redis delays rows and loses none; afterwards the queue is used again', async () => {
  const redis = await freshRedis();
  const { work, throughTheQueue } = await stage(redis.url);
  await work.insert(5);
  await work.done(5);
  await redis.kill9();
  let sum = 5;
  for (let i = 0; i < ROUNDS; i += 1) {
    await work.insert(5);
    await work.done(sum + 1);
    sum += 5;
  }
  await redis.start();
  await work.insert(5);
  await work.done(sum + 5);
  expect(await work.counts()).toEqual(Array(sum + 5).fill(1));
  expectSoon(work);
  await throughTheQueue(sum + 5);
});

test('an engine that starts while Redis is away works without it, and with it once it is there', async () => {
  const redis = await freshRedis();
  await redis.kill9();
  const { work, notifier, throughTheQueue } = await stage(redis.url);
  await work.insert(5);
  await work.done(5);
  expect(await notifier.notify(work.queue, [row(1)], 'mirror')).toBe(false);
  await redis.start();
  await throughTheQueue(5);
});

test.each<[string, (redis: RedisServer) => Promise<void> | void]>([
  ['down', (redis) => redis.kill9()],
  [
    'silent',
    (redis) => {
      redis.pause();
    },
  ],
])(
  'F06 notifying returns false within its time while Redis is %s, and closing does not hang',
  async (_, break_) => {
    const redis = await freshRedis();
    const session = await workSession();
    const log = memoryLog();
    const work = workQueue(session);
    const notifier = notifierOf(redis.url, log);
    notifier.subscribe(work.queue, () => Promise.resolve(null));
    while (!(await notifier.notify(work.queue, [row(1)], 'mirror'))) await pause(10);
    await break_(redis);
    const began = performance.now();
    expect(await notifier.notify(work.queue, [row(2)], 'mirror')).toBe(false);
    expect(performance.now() - began).toBeLessThan(byTheClock(QUICK.notifyMs * 2 + 2_000));
    await notifier.close();
    expect(performance.now() - began).toBeLessThan(byTheClock(QUICK.notifyMs * 4 + 5_000));
    redis.resume();
  },
);

test('F07 rows are worked though the worker’s connection has gone silent', async () => {
  const proxy = await proxyToRedis(await freshRedis());
  const { work } = await stage(proxy.url);
  await work.insert(3);
  await work.done(3);
  await proxy.holdWaiting();
  await work.insert(20);
  await work.done(23);
  expect(await work.counts()).toEqual(Array(23).fill(1));
  expectSoon(work);
});

test('F07 rows are worked though the queue takes notifications and brings none', async () => {
  const redis = await freshRedis();
  const { work } = await stage(redis.url);
  await work.insert(1);
  await work.done(1);
  const queue = new Queue('bms-work', { connection: { url: redis.url } });
  onTestFinished(() => queue.close());
  await queue.pause();
  await work.insert(5);
  await work.done(6);
  expect(await work.counts()).toEqual(Array(6).fill(1));
  expectSoon(work);
});
