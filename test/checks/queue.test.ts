import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { checkPostgresQueue, checkRedis, judgeRedis } from '../../src/checks/queue.ts';
import { canary } from '../support/canary.ts';
import { bystander, freshDatabaseUrl } from '../support/postgres.ts';
import { freshRedis } from '../support/redis.ts';
import { freePort } from '../support/redis-server.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { SELF_SIGNED } from '../source/self-signed.ts';

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

test('a Redis with TLS is told of where the address has none, and where its certificate is not trusted', async () => {
  const [folder, port] = [tempFolder(), await freePort()];
  const file = (name: 'key' | 'cert'): string => {
    writeFileSync(join(folder, name), SELF_SIGNED[name]);
    return join(folder, name);
  };
  const [cert, key] = [file('cert'), file('key')];
  const ours = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
  await freshRedis('--tls-port', String(port), ...ours, '--tls-auth-clients', 'no');

  const [plain] = await checkRedis(`redis://localhost:${port}`);
  const [encrypted] = await checkRedis(`rediss://localhost:${port}`);

  expect(plain?.detail).toContain('if it speaks TLS, use rediss://');
  expect(encrypted?.detail).toContain('not trusted: name the file of its authority in NODE_EXTRA_CA_CERTS');
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

test('a PostgreSQL that answers and lets us make a schema is well', async () => {
  expect(await checkPostgresQueue(inject('postgresUrl'))).toMatchObject({
    ...{ name: 'queue', ok: true },
    detail: expect.stringMatching(/^PostgreSQL \d+/) as string,
  });
});

test('one that lets us make none is not', async () => {
  const url = new URL(await freshDatabaseUrl());
  const client = await bystander(url.href);
  const name = `guest_${url.pathname.slice(-8)}`;
  await client.query(`create role ${name} login password '${canary('')}'`);
  [url.username, url.password] = [name, canary('')];
  expect(await checkPostgresQueue(url.href)).toMatchObject({ ok: false, code: 'jobs.postgres_no_schema' });
  await client.query(`drop role ${name}`);
});

test('one that nobody answers for is not, and its password is not told', async () => {
  const found = await checkPostgresQueue(`postgres://user:${canary('')}@127.0.0.1:9/db`);
  expect(found).toMatchObject({ ok: false, code: 'jobs.postgres_unreachable' });
  expect(JSON.stringify(found)).not.toContain(canary(''));
});
