import { expect, inject, test } from 'vitest';
import { checkRedis, judgeRedis } from '../../../src/jobs/bullmq/redis-check.ts';
import { canary } from '../../support/canary.ts';
import { freshRedis } from '../../support/redis.ts';

test('a Redis as it comes is fit for queues', async () => {
  const findings = await checkRedis(inject('redisUrl'));
  expect(findings.map(({ ok }) => ok)).toEqual([true, true, true]);
});

test('F04 a Redis that evicts is told of', async () => {
  const redis = await freshRedis('--maxmemory-policy', 'allkeys-lru');
  expect(await checkRedis(redis.url)).toContainEqual(
    expect.objectContaining({ ok: false, code: 'jobs.redis_evicts' }),
  );
});

test('a Redis that wants a password is told of, and that it is away', async () => {
  const redis = await freshRedis('--requirepass', canary(''));
  const codes = async (): Promise<unknown> => (await checkRedis(redis.url)).map(({ code }) => code);
  expect(await codes()).toEqual(['jobs.redis_unreachable']);
  await redis.kill9();
  expect(await codes()).toEqual(['jobs.redis_unreachable']);
});

test.each([
  ['7.0.15', null],
  ['6.2.0', null],
  ['10.0.0', null],
  ['6.0.16', 'jobs.redis_too_old'],
  ['5.0.1', 'jobs.redis_too_old'],
])('Redis %s: %s', (version, code) => {
  const [first] = judgeRedis(`# Server\r\nredis_version:${version}\r\nmaxmemory_policy:noeviction\r\n`);
  expect(first?.code).toBe(code);
});
