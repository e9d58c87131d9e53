import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../support/command-line.ts';
import { gateTo, type Gate } from '../support/gate.ts';
import { start, type Program } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { untilTestEnds } from '../support/serve.ts';
import { byTheClock } from '../support/tiers.ts';
import { creates, insert, redisFor, serveBeside, setScene } from './outbound-scene.ts';

const GRACE_MS = 4_000;
const SLACK_MS = 1_000; // From the signal to the exit that this process sees, on a busy machine.
const GRACE = { BMS__SHUTDOWN__GRACE_SECONDS: String(GRACE_MS / 1000) };

/** Sends a signal and returns how the process ended, which it must within its grace period. */
async function endedBy({ child, ended }: Program, signal: NodeJS.Signals) {
  const began = performance.now();
  child.kill(signal);
  const end = await ended;
  expect(performance.now() - began, end.stderr).toBeLessThan(byTheClock(GRACE_MS + SLACK_MS));
  return end;
}

const IN_ORDER = { code: 0, signal: null, stderr: expect.stringContaining('"serve.stopped"') as string };

/** A mirror in PostgreSQL that is reached through a gate. */
async function postgresBehindGate() {
  const { env, service } = await setScene(onTestFinished, { size: 5, at: 'postgres', env: GRACE });
  const url = new URL(env['DATABASE_URL'] ?? '');
  const gate = await gateTo(url.href);
  onTestFinished(() => gate[Symbol.asyncDispose]());
  url.port = String(gate.port);
  return { gate, service, env: { ...env, BMS_BASE_URL: env['BMS_BASE_URL'] ?? '', DATABASE_URL: url.href } };
}

test.each<[string, (redis: RedisServer) => Promise<void> | void]>([
  ['has gone', (redis) => redis.kill9()],
  [
    'is silent',
    (redis) => {
      redis.pause();
    },
  ],
])('SIGTERM ends serve in order while its Redis %s', async (_, leave) => {
  const { env } = await setScene(onTestFinished, { size: 5, env: GRACE });
  const redis = await redisFor(onTestFinished);
  const program = await serveBeside(onTestFinished, { ...env, QUEUE_URL: redis.url });
  await leave(redis);
  expect(await endedBy(program, 'SIGTERM')).toMatchObject(IN_ORDER);
});

test.each<[string, (gate: Gate) => void]>([
  [
    'has gone',
    (gate) => {
      gate.shut();
    },
  ],
  [
    'is silent',
    (gate) => {
      gate.silence();
    },
  ],
])('SIGTERM ends serve within its grace period while PostgreSQL %s', async (_, leave) => {
  const { gate, env } = await postgresBehindGate();
  const program = await serveBeside(onTestFinished, env);
  leave(gate);
  expect(await endedBy(program, 'SIGTERM')).toMatchObject({ code: 0, signal: null });
});

test('SIGTERM ends a pull within its grace period once PostgreSQL is silent', async () => {
  const { gate, env, service } = await postgresBehindGate();
  service.setFaults([{ do: { latencyMs: 100 } }]);
  const reached = requestNumber({ url: env['BMS_BASE_URL'] }, 2);
  const program = start(['pull'], { env });
  await reached;
  gate.silence();
  expect(await endedBy(program, 'SIGTERM')).toMatchObject({ code: 3, signal: null });
});

test('SIGTERM cuts off a delivery whose receiver hangs, and it is due again', async () => {
  const scene = await setScene(onTestFinished, { size: 5, env: GRACE });
  const receiver = createServer();
  const asked = once(receiver, 'request');
  const { url } = await untilTestEnds(receiver);
  const env = { ...scene.env, BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]' };
  expect(await run(['webhooks', 'add', url, '--name', 'slow'], env)).toMatchObject({ code: 0 });
  const program = await serveBeside(onTestFinished, env);
  await insert(scene, creates('clients', 1));
  await asked;
  expect(await endedBy(program, 'SIGTERM')).toMatchObject(IN_ORDER);
});

test('SIGTERM cuts off a create whose answer does not come', async () => {
  const faults = [{ on: { method: 'POST' as const }, do: { latencyMs: 3_600_000 } }];
  const env = { ...GRACE, BMS__SOURCE__TIMEOUT_SECONDS: '3600' };
  const scene = await setScene(onTestFinished, { size: 5, env });
  scene.service.setFaults(faults);
  const program = await serveBeside(onTestFinished, scene.env);
  const reached = requestNumber(scene.gate, 1, 'POST');
  await insert(scene, creates('clients', 1));
  await reached;
  expect(await endedBy(program, 'SIGTERM')).toMatchObject({ code: 0, signal: null });
});

test('SIGHUP ends serve in order, as SIGTERM does', async () => {
  const { env } = await setScene(onTestFinished, { size: 5 });
  const program = await serveBeside(onTestFinished, env);
  expect(await endedBy(program, 'SIGHUP')).toMatchObject(IN_ORDER);
});
