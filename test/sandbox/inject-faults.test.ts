import { expect, test } from 'vitest';
import type { FaultAction, Fault } from '../../sandbox/faults.ts';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { ask, askList } from './ask.ts';

const sandboxThat = (action: FaultAction): Promise<Sandbox> =>
  startSandbox({ size: 60, faults: [{ do: action }] });
const create = (sandbox: Sandbox) =>
  ask(sandbox, '/api/projects', { method: 'POST', body: { name: 'Essai' } });

test('a status comes with its body and Retry-After, and the work is not done', async () => {
  await using sandbox = await sandboxThat({ status: 503, retryAfter: '7', body: '<h1>Panne</h1>' });
  const { status, headers, text } = await create(sandbox);
  expect([status, headers.get('retry-after'), text]).toEqual([503, '7', '<h1>Panne</h1>']);
  expect(headers.get('content-type')).toContain('text/html');
  expect(sandbox.world.count('projects')).toBe(30);
});

test('a truncated body breaks off although the headers promised the whole', async () => {
  await using sandbox = await sandboxThat({ truncate: 100 });
  const response = await fetch(`${sandbox.url}/api/clients`, {
    headers: { Authentication: `Bearer ${sandbox.token}` },
  });
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(1000);
  await expect(response.text()).rejects.toThrow();
});

test('a cut body is whole HTTP but no JSON', async () => {
  await using sandbox = await sandboxThat({ cut: 40 });
  const { status, text, headers } = await ask(sandbox, '/api/clients');
  expect([status, text.length, headers.get('content-length')]).toEqual([200, 40, '40']);
  expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
});

test('a login page comes as a 200', async () => {
  await using sandbox = await sandboxThat({ html: true });
  const { status, text, headers } = await ask(sandbox, '/api/clients');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(text).toMatch(/^<!DOCTYPE html>/);
});

test('a list may ignore the page', async () => {
  await using sandbox = await sandboxThat({ ignorePage: true });
  const first = await askList(sandbox, '/api/clients');
  const second = await askList(sandbox, '/api/clients?page=2');
  expect(second).toEqual(first);
});

test('a list may clamp the page size, and its meta says so', async () => {
  await using sandbox = await sandboxThat({ clampPerPage: 10 });
  const { data, meta } = await askList(sandbox, '/api/clients?per_page=50&page=2');
  expect(data.map(({ id }) => id)).toEqual(sandbox.world.slice('clients', 10, 20));
  expect(meta).toEqual({ current_page: 2, last_page: 6, per_page: 10, total: 60 });
  expect((await askList(sandbox, '/api/purchases_products')).data).toHaveLength(10);
});

test('latencies add up, and the first other match is done', async () => {
  const faults: Fault[] = [
    { do: { latencyMs: 20 } },
    { do: { status: 500 } },
    { do: { status: 502 } },
    { do: { latencyMs: 20 } },
  ];
  await using sandbox = await startSandbox({ size: 2, faults });
  const started = performance.now();
  expect((await ask(sandbox, '/api/clients')).status).toBe(500);
  expect(performance.now() - started).toBeGreaterThan(38);
});

test('a fault strikes where it matches, after what it lets through, as often as it says', async () => {
  await using sandbox = await startSandbox({
    size: 60,
    faults: [{ on: { kind: 'clients', method: 'get', page: 2 }, skip: 1, times: 2, do: { status: 500 } }],
  });
  const statuses: number[] = [];
  for (const page of [1, 2, 2, 3, 2, 2])
    statuses.push((await ask(sandbox, `/api/clients?page=${page}`)).status);
  expect(statuses).toEqual([200, 200, 500, 200, 500, 200]);
});

test('a fault on a page concerns lists alone', async () => {
  await using sandbox = await startSandbox({ size: 2, faults: [{ on: { page: 1 }, do: { status: 500 } }] });
  expect((await create(sandbox)).status).toBe(200);
  expect((await ask(sandbox, '/api/projects')).status).toBe(500);
});

test('a wrong token spends no fault', async () => {
  await using sandbox = await startSandbox({ size: 2, faults: [{ times: 1, do: { status: 500 } }] });
  expect((await ask(sandbox, '/api/clients', { headers: {} })).status).toBe(401);
  expect((await ask(sandbox, '/api/clients')).status).toBe(500);
});

test('closing does not wait for a slow answer', async () => {
  const sandbox = await sandboxThat({ latencyMs: 60_000 });
  const answer = expect(ask(sandbox, '/api/clients')).rejects.toThrow();
  await expect.poll(() => sandbox.requests.length).toBeGreaterThan(0);
  await sandbox.close();
  await answer;
});
