import { expect, inject, test } from 'vitest';
import { checkPostgresQueue } from '../../../src/jobs/bullmq/postgres-check.ts';
import { canary } from '../../support/canary.ts';
import { bystander, freshDatabaseUrl } from '../../support/postgres.ts';

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
