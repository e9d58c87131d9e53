import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { atRest, expectExact, tally, watchStandstill } from './outbound-ledger.ts';
import { creates, insert, redisFor, serveBeside, setScene, updates } from './outbound-scene.ts';
import type { Staging, Wish } from './outbound-scene.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { sized } from '../support/tiers.ts';

const LONGEST_MS = 75_000;
const FLUSHES = sized({ quick: 2, acceptance: 20, deep: 50 });
const CRASHES = sized({ quick: 1, acceptance: 5, deep: 20 });
const OUTAGE_MS = sized({ quick: 3_000, acceptance: 3_000, deep: 30_000 });

interface Trouble {
  readonly redis: RedisServer;
  /** Puts the next creates and updates into the outbox. */
  readonly stream: (count: number) => Promise<void>;
}

/** Streams entries while Redis is in trouble, and holds what becomes of them against the service. */
async function suffer(
  { onTestFinished, task }: TestContext,
  staging: Staging,
  trouble: (parts: Trouble) => Promise<void>,
): Promise<void> {
  const scene = await setScene(onTestFinished, { size: 60, ...staging });
  const redis = await redisFor(onTestFinished);
  await serveBeside(onTestFinished, { ...scene.env, QUEUE_URL: redis.url });
  const still = watchStandstill(onTestFinished, scene);
  const stored: Wish[] = [];

  await trouble({
    redis,
    stream: async (count) => {
      const from = stored.length;
      const wishes = [...creates('clients', count, from), ...updates(scene, count, from)];
      stored.push(...wishes);
      await insert(scene, wishes);
    },
  });
  await atRest(scene);

  console.log('FIGURE', task.name, { longestMs: still.longest(), ...(await tally(scene.session)) });
  await expectExact(scene, stored);
  expect(still.longest()).toBeLessThan(LONGEST_MS);
}

const TIMEOUT = { timeout: 300_000 };

test.concurrent(`Redis is flushed ${FLUSHES} times (F02)`, TIMEOUT, (context) =>
  suffer(context, {}, async ({ redis, stream }) => {
    const client = new Redis(redis.url);
    context.onTestFinished(() => {
      client.disconnect();
    });
    for (let flush = 0; flush < FLUSHES; flush++) {
      await stream(4);
      await pause(150);
      await client.flushall();
    }
  }),
);

test.concurrent(`Redis is killed ${CRASHES} times and forgets all (F03)`, TIMEOUT, (context) =>
  suffer(context, {}, async ({ redis, stream }) => {
    for (let crash = 0; crash < CRASHES; crash++) {
      await stream(6);
      await pause(200);
      await redis.kill9();
      await stream(6);
      await pause(200);
      await redis.start();
    }
  }),
);

test.concurrent('Redis is away for a while (F06)', TIMEOUT, (context) =>
  suffer(context, {}, async ({ redis, stream }) => {
    await stream(10);
    await redis.kill9();
    for (let part = 0; part < 5; part++) {
      await stream(10);
      await pause(OUTAGE_MS / 5);
    }
    await redis.start();
    await stream(10);
  }),
);

test.concurrent(
  'Redis keeps silent for a while, and a mark is to be left there (F06, D21)',
  TIMEOUT,
  (context) =>
    suffer(context, { at: 'postgres' }, async ({ redis, stream }) => {
      await stream(10);
      redis.pause();
      for (let part = 0; part < 5; part++) {
        await stream(10);
        await pause(OUTAGE_MS / 5);
      }
      redis.resume();
      await stream(10);
    }),
);
