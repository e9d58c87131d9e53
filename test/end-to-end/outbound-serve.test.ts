import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { canary } from '../support/canary.ts';
import { document, run, settingsFor, type Ended, type Env } from '../support/command-line.ts';
import { ask, bytesOf } from '../support/mirror-file.ts';
import { runProgram } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { redisFor, serveBeside } from './outbound-scene.ts';

const posts = ({ requests }: Sandbox): number => requests.filter(({ method }) => method === 'POST').length;

/** A mirror that knows its service, so that no create has to wait for a sweep. */
async function readMirror(service: Sandbox): Promise<{ readonly path: string; readonly env: Env }> {
  const path = await grownMirror();
  const writes = { BMS_WRITES: 'on', PORT: '0', BMS__SCHEDULES__ALL: 'null' };
  const env = { ...settingsFor(service, path), ...writes };
  expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
  return { path, env };
}

const pushCreate = (env: Env, code: string, ...argv: readonly string[]): Promise<Ended> =>
  run(['push', 'create', 'clients', '--data', JSON.stringify({ code, name: code }), '--json', ...argv], env);

/** Has the service work twice, a second apart: it looks for entries as often as for the runs that it is asked for here. */
async function workTwice(env: Env): Promise<void> {
  for (let runs = 0; runs < 2; runs++)
    expect(await run(['pull', 'departments'], env)).toMatchObject({ code: 0 });
}

const statesIn = (path: string): unknown[] =>
  ask(path, 'select state from outbox order by id').map(({ state }) => state);

test('a second serve of a SQLite file is refused, and the first goes on (G08)', async ({
  onTestFinished,
}) => {
  await using service = await startSandbox({ size: 5 });
  const { env } = await readMirror(service);
  await serveBeside(onTestFinished, env);

  const second = await runProgram(['serve', '--json'], { env });

  expect(second.code).toBe(1);
  expect(document(second)).toMatchObject({ error: { code: 'serve.running' } });
  const pushed = await pushCreate(env, 'NEW', '--wait');
  expect(pushed.code).toBe(0);
  expect(document(pushed)).toMatchObject({ state: 'done', verdict: 'sent' });
});

test('serve of another service than the mirror knows is refused, and nothing is sent there (D22)', async () => {
  await using service = await startSandbox({ size: 5 });
  await using other = await startSandbox({ size: 5 });
  const { path, env } = await readMirror(service);
  await pushCreate(env, 'NEW');

  const ended = await runProgram(['serve', '--json'], { env: { ...env, BMS_BASE_URL: other.url } });

  expect(ended.code).toBe(1);
  expect(document(ended)).toMatchObject({ error: { code: 'mirror.other_source' } });
  expect([other.requests.length, statesIn(path)]).toEqual([0, ['ready']]);
});

test('with writes off nothing is sent, and entries wait (D22)', async ({ onTestFinished }) => {
  await using service = await startSandbox({ size: 5 });
  const { path, env } = await readMirror(service);
  const quiet = { ...env, BMS_WRITES: 'off' };
  const { child, ended } = await serveBeside(onTestFinished, quiet);
  const pushed = await pushCreate(quiet, 'NEW');
  expect(pushed.stderr).toContain('BMS_WRITES');
  const waited = await pushCreate(env, 'AWAITED', '--wait');
  expect([waited.code, document(waited)]).toMatchObject([3, { verdict: 'writes_off' }]);
  await workTwice(quiet);

  child.kill('SIGTERM');

  expect(await ended).toMatchObject({ code: 0 });
  expect([posts(service), statesIn(path)]).toEqual([0, ['ready', 'ready']]);
});

test('SIGTERM during a slow write lets it end, and the process with it (H05)', async ({ onTestFinished }) => {
  await using service = await startSandbox({ size: 5 });
  const { path, env } = await readMirror(service);
  service.setFaults([{ on: { method: 'POST' }, do: { latencyMs: 1_500 } }]);
  const { child, ended } = await serveBeside(onTestFinished, env);
  const sent = requestNumber(service, 1, 'POST');
  await pushCreate(env, 'NEW');
  await sent;

  child.kill('SIGTERM');

  expect(await ended).toMatchObject({ code: 0, signal: null });
  expect(ask(path, 'select state, verdict from outbox')).toEqual([{ state: 'done', verdict: 'sent' }]);
  expect(ask(path, 'select owner from workers')).toEqual([]);
  expect(posts(service)).toBe(1);
});

const CANARY = canary('-of-the-service');

test('a token that the service repeats gets into no table, log, output or Redis (J08, F11)', async ({
  onTestFinished,
}) => {
  await using service = await startSandbox({ size: 5, token: CANARY });
  const redis = await redisFor(onTestFinished);
  const { path, env: settings } = await readMirror(service);
  const env = { ...settings, QUEUE_URL: redis.url, LOG_LEVEL: 'trace' };
  const body = JSON.stringify({ success: false, message: `No user has ${CANARY}`, token: CANARY });
  service.setFaults([
    { on: { method: 'POST' }, times: 1, do: { status: 422, body } },
    { on: { method: 'POST' }, times: 1, do: { statusAfter: 500, body } },
    { on: { method: 'POST' }, times: 1, do: { status: 200, body: `<html>${CANARY}</html>` } },
    { on: { method: 'POST' }, times: 1, do: { redirect: `http://127.0.0.1:9/?token=${CANARY}` } },
    { on: { method: 'POST' }, times: 1, do: { status: 429, retryAfter: '600', body } },
    { on: { method: 'PUT' }, times: 1, do: { status: 403, body } },
  ]);
  const { child, ended } = await serveBeside(onTestFinished, env);
  const output: Ended[] = [];
  for (let i = 0; i < 5; i++) output.push(await pushCreate(env, `NEW-${i}`));
  const id = String(service.world.ids('clients')[0]);
  output.push(await run(['push', 'update', 'clients', id, '--data', '{"city":"Here"}'], env));
  const tried = 'select count(distinct outbox_id) as n from outbox_attempts where closed_at is not null';
  while (Number(ask(path, tried)[0]?.['n']) < 6) await pause(100);
  const kept = await allOf(redis.url);

  child.kill('SIGTERM');

  const { stdout, stderr } = await ended;
  for (const argv of [
    ['outbox'],
    ['outbox', '--json'],
    ['status'],
    ['outbox', 'show', '1'],
    ['outbox', 'show', '2', '--json'],
  ])
    output.push(await run(argv, env));
  expect(ask(path, 'select status from outbox_attempts order by outbox_id')).not.toEqual([]);
  expect(stderr).toContain('source request'); // So that there was a log to search.
  expect(kept).toContain('bms-outbox'); // And a queue.
  const all = [
    stdout,
    stderr,
    kept,
    ...output.flatMap((one) => [one.stdout, one.stderr]),
    bytesOf(path).toString('latin1'),
  ];
  expect(all.filter((text) => text.includes(CANARY))).toEqual([]);
  expect(bytesOf(path).toString('latin1')).toContain('No user has'); // The answers were kept, without it.
});

/** Every key of a Redis with its value, as bytes. */
async function allOf(url: string): Promise<string> {
  const client = new Redis(url);
  try {
    const keys = await client.keys('*');
    const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
    return [...keys, ...dumps.map((dump: Buffer | null) => dump?.toString('latin1') ?? '')].join('\n');
  } finally {
    client.disconnect();
  }
}
