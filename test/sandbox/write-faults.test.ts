import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { FaultAction } from '../../sandbox/faults.ts';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { holdNextSleep } from '../support/held-sleep.ts';
import { requestNumber } from '../support/requests.ts';
import { ask, type Reply } from './ask.ts';

const sandboxThat = (action: FaultAction): Promise<Sandbox> =>
  startSandbox({ size: 60, faults: [{ do: action }] });
const PROJECTS = 30;

const create = (sandbox: Sandbox, body: JsonObject = { name: 'Essai' }): Promise<Reply> =>
  ask(sandbox, '/api/projects', { method: 'POST', body });
const update = (sandbox: Sandbox, body: JsonObject): Promise<Reply> =>
  ask(sandbox, `/api/clients/${firstClient(sandbox)}`, { method: 'PUT', body });

const firstClient = (sandbox: Sandbox): number => sandbox.world.ids('clients')[0] ?? 0;
const clientOf = (sandbox: Sandbox): JsonObject | undefined =>
  sandbox.world.get('clients', firstClient(sandbox));

test.each([
  ['before', PROJECTS, false],
  ['after', PROJECTS + 1, true],
] as const)('a socket dropped %s the work: a create and an update', async (drop, count, isApplied) => {
  await using sandbox = await sandboxThat({ drop });
  await expect(create(sandbox)).rejects.toThrow();
  await expect(update(sandbox, { city: 'Amqui' })).rejects.toThrow();
  expect(sandbox.world.count('projects')).toBe(count);
  expect(clientOf(sandbox)?.['city'] === 'Amqui').toBe(isApplied);
});

test('a status may come after the work was done', async () => {
  await using sandbox = await sandboxThat({ statusAfter: 500, retryAfter: '3', body: '<h1>Panne</h1>' });
  const { status, text, headers } = await create(sandbox);
  expect([status, text, headers.get('retry-after')]).toEqual([500, '<h1>Panne</h1>', '3']);
  expect(sandbox.world.count('projects')).toBe(PROJECTS + 1);
  expect((await update(sandbox, { city: 'Amqui' })).status).toBe(500);
  expect(clientOf(sandbox)).toMatchObject({ city: 'Amqui' });
});

test('the work may be done late, long after the client has gone', async () => {
  await using sandbox = await sandboxThat({ commitAfterMs: 1 });
  const goOn = holdNextSleep();
  const abort = new AbortController();
  void requestNumber(sandbox, 1).then(() => {
    abort.abort();
  });
  const { signal } = abort;
  const headers = { Authentication: `Bearer ${sandbox.token}` };
  const answer = fetch(`${sandbox.url}/api/projects`, { method: 'POST', headers, body: '{}', signal });
  await expect(answer).rejects.toThrow();
  expect(sandbox.world.count('projects')).toBe(PROJECTS);
  goOn();
  await expect.poll(() => sandbox.world.count('projects')).toBe(PROJECTS + 1);
});

test('an answer may be held back after the work was done', async () => {
  await using sandbox = await sandboxThat({ holdMs: 60_000 });
  const answer = expect(create(sandbox)).rejects.toThrow();
  await expect.poll(() => sandbox.world.count('projects')).toBe(PROJECTS + 1);
  await sandbox.close();
  await answer;
});

test('fields may be ignored without a word, by their write names', async () => {
  await using sandbox = await sandboxThat({ ignoreFields: ['city', 'address2'] });
  const before = clientOf(sandbox);
  const { status } = await update(sandbox, { city: 'Amqui', address2: 'app. 2', phone: '418 555-0199' });
  expect(status).toBe(200);
  expect(clientOf(sandbox)).toEqual({ ...before, phone: '418 555-0199' });
});

test.each([
  ['spaces', ' Été & fils « déjà vu » '],
  ['upper', ' ÉTÉ & FILS  « DÉJÀ VU » '],
  ['html', ' Été &amp; fils  « déjà vu » '],
  ['first20', ' Été & fils  « déjà '],
] as const)('texts may be stored otherwise than they were sent: %s', async (storesText, expected) => {
  await using sandbox = await sandboxThat({ storesText });
  await update(sandbox, { city: ' Été & fils  « déjà vu » ', term: 30 });
  expect(clientOf(sandbox)).toMatchObject({ city: expected, term: 30 });
});

test('what bends a body leaves one that is no JSON object to the service', async () => {
  await using sandbox = await sandboxThat({ storesText: 'upper' });
  const headers = { Authentication: `Bearer ${sandbox.token}` };
  const response = await fetch(`${sandbox.url}/api/projects`, { method: 'POST', headers, body: '[' });
  expect(response.status).toBe(400);
});
