import { once } from 'node:events';
import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import { SyncError } from '../../src/lib/sync-error.ts';
import { MirrorError } from '../../src/db/session/errors.ts';
import type { Session } from '../../src/db/session/session.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { httpClient } from './ask.ts';
import { TOKEN, jsonOf, serveMirror } from './stage.ts';

const mirror = () => tempMirror([kindNamed('clients'), kindNamed('products')]);
const JSON_TYPE = { 'content-type': 'application/json' };

/** A mirror whose reads fail. */
async function failing(error: Error): Promise<Session> {
  const session = await mirror();
  return new Proxy(session, {
    get: (target, name) =>
      name === 'query' ? () => Promise.reject(error) : (Reflect.get(target, name) as unknown),
  });
}

/** What a server says to bytes that it is sent. */
function answerTo(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (some: string) => (text += some));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(text);
    });
  });
}

test.each([
  ['nothing there', 'GET', '/v1/nothing', {}, undefined, 404, 'http.not_found'],
  ['a path that is none', 'GET', '/v1/records/%zz/1', {}, undefined, 400, 'http.malformed'],
  [
    'a path that is too long',
    'GET',
    `/v1/records/clients/${'1'.repeat(200)}`,
    {},
    undefined,
    400,
    'http.invalid_request',
  ],
  ['an unknown query', 'GET', '/v1/runs?order=up', {}, undefined, 400, 'http.invalid_request'],
  ['a number that is none', 'GET', '/v1/runs?limit=ten', {}, undefined, 400, 'http.invalid_request'],
  ['a query twice', 'GET', '/v1/runs?limit=1&limit=2', {}, undefined, 400, 'http.invalid_request'],
  ['no JSON', 'POST', '/v1/pulls', JSON_TYPE, '{', 400, 'http.not_json'],
  ['no UTF-8', 'POST', '/v1/pulls', JSON_TYPE, Buffer.from([0x22, 0xff, 0x22]), 400, 'http.not_json'],
  [
    'JSON that is too deep',
    'POST',
    '/v1/pulls',
    JSON_TYPE,
    '['.repeat(5_000) + ']'.repeat(5_000),
    400,
    'http.not_json',
  ],
  ['JSON far too deep', 'POST', '/v1/pulls', JSON_TYPE, '['.repeat(500_000), 400, 'http.not_json'],
  ['another type', 'POST', '/v1/pulls', { 'content-type': 'text/xml' }, '<a/>', 415, 'http.media_type'],
  ['a type that is none', 'POST', '/v1/pulls', { 'content-type': 'json' }, '{}', 415, 'http.media_type'],
  ['a huge body', 'POST', '/v1/pulls', JSON_TYPE, `"${'x'.repeat(1_048_576)}"`, 413, 'http.body_too_large'],
  ['a body of another shape', 'POST', '/v1/pulls', JSON_TYPE, '[]', 400, 'http.invalid_request'],
  ['an unknown member', 'POST', '/v1/pulls', JSON_TYPE, '{"__proto__":{"a":1}}', 400, 'http.invalid_request'],
  [
    'an unusable key',
    'POST',
    '/v1/outbox',
    { ...JSON_TYPE, 'idempotency-key': 'x'.repeat(201) },
    '{}',
    400,
    'http.invalid_request',
  ],
] as const)('%s is a problem that names itself', async (...[, method, path, headers, body, status, code]) => {
  const { url } = await serveMirror(await mirror());
  const auth = { authorization: `Bearer ${TOKEN}` };
  const answer = await httpClient(url)({
    method,
    path,
    headers: { ...auth, ...headers },
    ...(body && { body }),
  });
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    status,
    {
      type: `urn:bms-sync:problem:${code}`,
      status,
      code,
      title: expect.any(String) as string,
      detail: expect.any(String) as string,
      ...(answer.text.includes('"hint"') && { hint: expect.any(String) as string }),
    },
  ]);
});

test.each([
  ['no HTTP', 'hello\r\n\r\n', '400'],
  ['no host', 'GET /v1/status HTTP/1.1\r\nconnection: close\r\n\r\n', '400'],
  ['HTTP/1.0 without a host', 'GET /v1/status HTTP/1.0\r\n\r\n', '400'],
  ['too many headers', `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
  [
    'two lengths',
    'POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    '400',
  ],
])('what is %s is answered as a problem too', async (_name, bytes, status) => {
  const { url } = await serveMirror(await mirror());
  const answer = await answerTo(url, bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer.toLowerCase()).toContain('content-type: application/problem+json');
});

test('a bug is told by its number only, under which the log has it', async () => {
  const { get, log } = await serveMirror(await failing(new Error(`at secret.ts:1 of ${TOKEN.slice(0, 6)}`)));
  const answer = await get('/v1/status');
  const text = await answer.text();
  const { id } = JSON.parse(text) as { id: string };
  expect(answer.status).toBe(500);
  expect(text).not.toMatch(/secret|\bat \S+\.ts|canary|select/);
  const line = log.find((some) => some.includes(id)) ?? '';
  expect(line).toContain('secret.ts:1');
});

test('a fault that nobody foresaw here is a bug, whatever it is called', async () => {
  const { get } = await serveMirror(await failing(new SyncError('Odd.', { code: 'odd.one' })));
  expect((await get('/v1/status')).status).toBe(500);
});

test('a mirror that cannot be read is not our bug: come back later', async () => {
  const lost = new MirrorError('The mirror cannot be reached.', {
    code: 'mirror.unreachable',
    hint: 'Wait.',
  });
  const { get } = await serveMirror(await failing(lost));
  const answer = await get('/v1/status');
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await jsonOf(answer)).toMatchObject({ code: 'mirror.unreachable', hint: 'Wait.' });
});

test.each([
  ['/records/clients/abc', '/records/clients', /id: expected a whole number from 1\./],
  ['/outbox/99', '/outbox', /To list all of them: <a [^>]*href="\/outbox">Outbox<\/a>/],
  ['/changes?before=x', '/changes', /before: expected a whole number\./],
])('the page of the refusal of %s names the field and leads to %s', async (path, back, reason) => {
  const { get } = await serveMirror(await mirror());
  const page = (await (await get(path)).text()).replaceAll(/\s+/g, ' ');
  expect(page).toMatch(reason);
  expect(page).toContain(`<a href="${back}">Back</a>`);
  expect(page).not.toMatch(/openapi|params\/|querystring/);
});

test('text of the mirror is text on the page', async () => {
  const session = await mirror();
  const { get } = await serveMirror(session);
  await session.atomically((tx) =>
    tx.insertRows({
      table: 'issues',
      columns: ['kind', 'record_id', 'field', 'code', 'detail', 'first_seen_at'],
      rows: [['clients', '1', `<script>alert('"&')</script>`, '<b>', '', '2026-03-01 12:00:00.000']],
    }),
  );
  const page = await (await get('/issues')).text();
  expect(page).toContain('>&lt;script&gt;alert(&apos;&quot;&amp;&apos;)&lt;/script&gt;<');
  expect(page).toContain('>&lt;b&gt;</span></td>');
  expect(page).not.toContain('<script>');
});

test('who is slow, or comes in crowds, has limits', async () => {
  const { app } = await serveMirror(await mirror());
  expect(app.server).toMatchObject({
    headersTimeout: 5_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 10_000,
    timeout: 60_000,
    maxConnections: 1_024,
  });
});

test('a caller that hangs up in the middle of a request is no bug of ours', async () => {
  const { app, url, log } = await serveMirror(await mirror());
  const { hostname, port } = new URL(url);
  const connections = (): Promise<number> =>
    new Promise((resolve) =>
      app.server.getConnections((_error, count) => {
        resolve(count);
      }),
    );
  const head = `POST /v1/pulls HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n`;
  app.server.once('request', () => socket.destroy());
  const socket = createConnection({ host: hostname, port: Number(port) }, () => {
    socket.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"kinds"`);
  });
  await once(socket, 'close');
  await expect.poll(connections).toBe(0);
  expect(log.filter((line) => line.includes('"level":50'))).toEqual([]);
});
