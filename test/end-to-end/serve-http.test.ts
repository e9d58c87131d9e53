import { rmSync } from 'node:fs';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { canary } from '../support/canary.ts';
import { settingsFor } from '../support/command-line.ts';
import { runProgram, start } from '../support/program.ts';
import { addressOf } from './three-processes-crew.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

const ADMIN_TOKEN = canary('-an-admin-token-of-32-characters');

test('serve takes a create over HTTP, sends it, and shows what became of it', async ({ onTestFinished }) => {
  await using service = await startSandbox({ size: 5 });
  const env = {
    BMS__SCHEDULES__ALL: 'null',
    ...settingsFor(service, await grownMirror()),
    BMS_WRITES: 'on',
    PORT: '0',
    ADMIN_TOKEN,
  };
  const program = start(['serve'], { env });
  onTestFinished(() => {
    program.child.kill('SIGKILL');
  });
  const address = await addressOf(program);
  const ask = async (
    path: string,
    body?: object,
  ): Promise<{ status: number; answer: Record<string, unknown> }> => {
    const got = await request(address + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': 'order-1' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: got.statusCode, answer: (await got.body.json()) as Record<string, unknown> };
  };

  expect((await request(`${address}/health`)).statusCode).toBe(200);
  expect((await request(`${address}/v1/status`)).statusCode).toBe(401);
  const wish = { operation: 'create', kind: 'clients', data: { code: 'NEW', name: 'New' } };
  const stored = await ask('/v1/outbox', wish);
  expect(stored.status).toBe(202);
  expect((await ask('/v1/outbox', wish)).status).toBe(200);
  const id = String(stored.answer['id']);
  await expect
    .poll(async () => (await ask(`/v1/outbox/${id}`)).answer['state'], { interval: 200 })
    .toBe('done');
  expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  program.child.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 0 });
});

test('serve promises nothing once its SQLite file was removed: a push is refused, and it is not ready', async ({
  onTestFinished,
}) => {
  await using service = await startSandbox({ size: 5 });
  const path = await grownMirror();
  const env = { BMS__SCHEDULES__ALL: 'null', ...settingsFor(service, path), PORT: '0', ADMIN_TOKEN };
  const program = start(['serve'], { env });
  onTestFinished(() => {
    program.child.kill('SIGKILL');
  });
  const address = await addressOf(program);
  const ready = async (): Promise<number> => (await request(`${address}/ready`)).statusCode;
  await expect.poll(ready, { interval: 500 }).toBe(200); // A start that misses its file ends.
  rmSync(path);
  const wish = { operation: 'create', kind: 'clients', data: { code: 'NEW', name: 'New' } };
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const pushed = await request(`${address}/v1/outbox`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': 'order-1' },
    body: JSON.stringify(wish),
  });
  expect([pushed.statusCode, await pushed.body.json()]).toEqual([
    503,
    expect.objectContaining({ code: 'mirror.absent' }),
  ]);
  await expect.poll(ready, { interval: 500 }).toBe(503);
});

test('serve says so where its port is taken, and ends', async () => {
  await using service = await startSandbox({ size: 5 });
  const env = { ...settingsFor(service, await grownMirror()), PORT: new URL(service.url).port };
  const ended = await runProgram(['serve', '--json'], { env });
  expect(ended.code).toBe(1);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    error: {
      code: 'server.no_address',
      message: expect.stringContaining('address already in use') as string,
    },
  });
});
