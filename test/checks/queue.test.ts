import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { checkQueue, checkRedisInfo } from '../../src/checks/queue.ts';
import { canary } from '../support/canary.ts';
import { freshRedis } from '../support/redis.ts';
import { freePort } from '../support/redis-server.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { SELF_SIGNED } from '../source/self-signed.ts';

test('a Redis as it comes is fit for queues', async () => {
  const findings = await checkQueue(inject('redisUrl'));
  expect(findings.map(({ ok }) => ok)).toEqual([true, true]);
});

test('F04 a Redis that evicts is told of', async () => {
  const redis = await freshRedis('--maxmemory-policy', 'allkeys-lru');
  expect(await checkQueue(redis.url)).toContainEqual(
    expect.objectContaining({ ok: false, code: 'jobs.redis_evicts' }),
  );
});

test('a Redis that wants a password is told of, and that it is away', async () => {
  const redis = await freshRedis('--requirepass', canary(''));
  const codes = async (): Promise<unknown> => (await checkQueue(redis.url)).map(({ code }) => code);
  expect(await codes()).toEqual(['jobs.redis_unreachable']);
  await redis.kill9();
  expect(await codes()).toEqual(['jobs.redis_unreachable']);
});

describe('a Redis that answers and takes no jobs is reported with its cause', () => {
  const refusal = async (url: string): Promise<unknown> => {
    const [first, ...others] = await checkQueue(url);
    expect(others).toEqual([]);
    return [first?.code, first?.detail];
  };
  const named = (cause: string): readonly unknown[] => ['jobs.redis_refuses', expect.stringContaining(cause)];

  test('a read-only replica', async () => {
    const { port } = await freshRedis();
    const replica = await freshRedis(
      '--replicaof',
      '127.0.0.1',
      String(port),
      '--replica-serve-stale-data',
      'yes',
    );
    expect(await refusal(replica.url)).toEqual(named('read only replica'));
  });

  test('one whose memory is full', async () => {
    const full = await freshRedis('--maxmemory', '1', '--maxmemory-policy', 'noeviction');
    expect(await refusal(full.url)).toEqual(named('OOM'));
  });

  test('a node of a cluster', async () => {
    const node = await freshRedis('--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no');
    expect(await refusal(node.url)).toEqual(named('node of a cluster'));
  });

  test('one whose user may only read', async () => {
    const { url, port } = await freshRedis(
      '--user',
      'default',
      'on',
      'nopass',
      '~*',
      '+@all',
      '--user',
      'reader',
      'on',
      'nopass',
      '~*',
      '+@read',
      '+info',
      '+ping',
      '+select',
      '+hello',
      '+client',
    );
    expect(url).toContain(String(port));
    expect(await refusal(`redis://reader:any@127.0.0.1:${port}`)).toEqual(named('NOPERM'));
  });
});

test('a Redis with TLS is told of where the address has none', async () => {
  const folder = tempFolder();
  const port = await freePort();
  const file = (name: 'key' | 'cert'): string => {
    writeFileSync(join(folder, name), SELF_SIGNED[name]);
    return join(folder, name);
  };
  const cert = file('cert');
  const key = file('key');
  const ours = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
  await freshRedis('--tls-port', String(port), ...ours, '--tls-auth-clients', 'no');

  const [plain] = await checkQueue(`redis://localhost:${port}`);

  expect(plain?.hint).toContain('speaks TLS (rediss://)');
});

test.each([
  ['7.0.15', null],
  ['6.2.0', null],
  ['10.0.0', null],
  ['6.0.16', 'jobs.redis_too_old'],
  ['5.0.1', 'jobs.redis_too_old'],
])('Redis %s: %s', (version, code) => {
  const [first] = checkRedisInfo(`# Server\r\nredis_version:${version}\r\nmaxmemory_policy:noeviction\r\n`);
  expect(first?.code).toBe(code);
});
