import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { atRest, expectExact, tally, watchStandstill } from './outbound-ledger.ts';
import { sized } from '../support/tiers.ts';
import { creates, insert, redisFor, serveBeside, setScene } from './outbound-scene.ts';

const CREATES = sized({ quick: 100, acceptance: 200, deep: 200 });

test(
  `two processes share ${CREATES} creates of one PostgreSQL mirror: each is sent once (D09)`,
  { timeout: 120_000 },
  async ({ onTestFinished }) => {
    const scene = await setScene(onTestFinished, {
      size: 60,
      at: 'postgres',
      faults: [{ do: { latencyMs: 20 } }],
    });
    const { service, session } = scene;
    const redis = await redisFor(onTestFinished);
    const env = {
      ...scene.env,
      QUEUE_URL: redis.url,
      BMS__SOURCE__TIMEOUT_SECONDS: '30',
      LOG_LEVEL: 'debug',
    };
    const both = await Promise.all([serveBeside(onTestFinished, env), serveBeside(onTestFinished, env)]);
    const still = watchStandstill(onTestFinished, scene);
    const wishes = creates('clients', CREATES);

    await insert(scene, wishes);
    await atRest(scene);

    console.log('FIGURE two workers', { longestMs: still.longest(), ...(await tally(session)) });
    await expectExact(scene, wishes);
    expect(await tally(session)).toEqual({ 'create done sent': CREATES });
    expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(CREATES);
    expect(await session.query(sql`select outbox_id from outbox_attempts where n > 1`)).toEqual([]);
    for (const { child } of both) child.kill('SIGTERM');
    for (const { ended } of both) {
      const { code, stderr } = await ended;
      expect(code).toBe(0);
      expect(stderr).toContain('"method":"POST"'); // Each had its share.
    }
    expect(await session.query(sql`select owner from workers`)).toEqual([]);
  },
);
