import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyRequest } from 'fastify';
import { describe, expect, test, vi } from 'vitest';
import { SyncError } from '../../src/lib/sync-error.ts';
import { NOT_SIGNED_IN, watchCaller, type Access } from '../../src/http/access.ts';
import { hostRefusal } from '../../src/http/guard.ts';
import { saveCheck } from '../../src/store/integrity-check.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { kindNamed, tempMirror, thrownBy } from '../store/temp-mirror.ts';
import { TOKEN, jsonOf, serveMirror, signIn } from './stage.ts';

const mirror = () => tempMirror([kindNamed('clients'), kindNamed('products')]);
const WRONG = { authorization: 'Bearer wrong' };

test('wrong tokens are refused, and after 19 in a minute told to wait; the right one, or its cookie, is let in all the same', async () => {
  const stage = await serveMirror(await mirror());
  const { get, post } = stage;
  const cookie = await signIn(stage);
  const statuses: number[] = [];
  for (let n = 0; n < 21; n++) statuses.push((await get('/v1/runs', WRONG)).status);
  expect(statuses).toEqual([...Array.from({ length: 19 }, () => 401), 429, 429]);
  const refused = await post('/login', { token: 'wrong' });
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect(await jsonOf(refused)).toMatchObject({ code: 'http.too_many_attempts' });
  expect((await get('/v1/runs')).status).toBe(200);
  expect((await post('/login', { token: TOKEN })).status).toBe(303);
  expect((await fetch(`${stage.url}/v1/runs`, { headers: { cookie } })).status).toBe(200);
});

describe('signing in', () => {
  test('by the form leads to the status, with a cookie that no script and no other site gets', async () => {
    const stage = await serveMirror(await mirror());
    const answer = await fetch(`${stage.url}/login`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ token: TOKEN }),
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^bms_sync_session=\d+\.\w+\.\.[\w-]{12}\.[\w/+]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(TOKEN);
    const page = await fetch(stage.url, { headers: { cookie: await signIn(stage) } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Record kinds')]);
  });

  test('over https gives a cookie that goes over https only', async () => {
    const { post } = await serveMirror(await mirror());
    const answer = await post('/login', { token: TOKEN }, { 'x-forwarded-proto': 'https' });
    expect(answer.headers.get('set-cookie')).toMatch(/; Secure;/);
  });

  test('with a wrong token shows the form again; a program gets a problem', async () => {
    const { url, post } = await serveMirror(await mirror());
    const form = await fetch(`${url}/login`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'wrong' }),
    });
    expect([form.status, form.headers.get('set-cookie')]).toEqual([401, null]);
    const page = await form.text();
    expect(page).toContain('Unknown token.');
    expect(page).not.toContain('Authorization');
    const problem = await post('/login', { token: 'wrong' });
    expect(problem.status).toBe(401);
    expect(problem.headers.get('content-type')).toBe('application/problem+json');
  });

  test('is what the page asks for of whoever is not known', async () => {
    const { url } = await serveMirror(await mirror());
    const page = await fetch(url);
    expect(page.status).toBe(401);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const form = await page.text();
    expect(form).toContain('<form method="post" action="/login">');
    expect(form).not.toContain('role="alert"'); // Nothing was tried yet.
  });

  test('by a link is good again and again; a wrong code is not', async () => {
    const { url } = await serveMirror(await mirror(), { signInCode: 'right' });
    const open = async (code: string): Promise<readonly unknown[]> => {
      const { status, headers } = await fetch(`${url}/login?code=${code}`, { redirect: 'manual' });
      return [status, headers.get('location'), headers.get('set-cookie')?.split('=')[0]];
    };
    for (const good of ['right', 'right']) expect(await open(good)).toEqual([303, '/', 'bms_sync_session']);
    for (const bad of ['', 'rightx']) expect(await open(bad)).toEqual([401, null, undefined]);
  });

  test('over a link of another site asks for the page again, because the browser kept the strict cookie back', async () => {
    const { url } = await serveMirror(await mirror());
    const pageFor = async (headers: Record<string, string>): Promise<string> =>
      (await fetch(`${url}/changes`, { headers })).text();
    expect(await pageFor({ 'sec-fetch-site': 'cross-site' })).toContain('http-equiv="refresh"');
    expect(await pageFor({ 'sec-fetch-site': 'same-origin' })).not.toContain('http-equiv="refresh"');
  });

  test('lasts for half a day, and only with the same token', async () => {
    const clock = fakeClock();
    const stage = await serveMirror(await mirror(), { clock });
    const other = await serveMirror(await mirror(), { clock, token: `${TOKEN}x` });
    const cookie = await signIn(stage);
    const later = cookie.replace(/=(\d+)/, (_, until: string) => `=${Number(until) + 1}`);
    const statusOf = async ({ url }: { readonly url: string }, sent: string): Promise<number> =>
      (await fetch(`${url}/v1/runs`, { headers: { cookie: `theme=dark; ${sent}` } })).status;
    expect(await statusOf(stage, cookie)).toBe(200);
    expect(await statusOf(stage, later)).toBe(401);
    expect(await statusOf(other, cookie)).toBe(401);
    await clock.sleep(43_199_000);
    expect(await statusOf(stage, cookie)).toBe(200);
    await clock.sleep(1_000);
    expect(await statusOf(stage, cookie)).toBe(401);
  });
});

describe('without an admin token', () => {
  test.each(['0.0.0.0', '::', '192.0.2.7', 'sync.example.com', '[::]'])(
    'a server on %s is not made',
    async (host) => {
      const error = await thrownBy(async () => serveMirror(await mirror(), { token: null, host }));
      expect(error).toBeInstanceOf(SyncError);
      expect((error as SyncError).code).toBe('server.token_required');
    },
  );

  test.each(['127.0.0.1', '127.0.0.2', 'localhost', '::1', '[::1]'])(
    'a server on %s reads only',
    async (host) => {
      const { url, post } = await serveMirror(await mirror(), { token: null, host });
      expect((await fetch(`${url}/v1/status`)).status).toBe(200);
      expect((await fetch(url)).status).toBe(200);
      const refused = await post('/v1/pulls', { kinds: [] });
      expect(await jsonOf(refused)).toMatchObject({ status: 403, code: 'server.read_only' });
    },
  );
});

test('the caller of a long answer is looked up once a second, until it is let in no longer', async () => {
  const clock = fakeClock();
  const user = { name: 'Marie', role: 'viewer', by: 'bearer' } as const;
  const authenticate = vi.fn<Access['authenticate']>(() => Promise.resolve(user));
  const isLetIn = watchCaller({} as FastifyRequest, { authenticate }, clock);
  for (let part = 0; part < 50; part++) expect(await isLetIn()).toBe(true);
  expect(authenticate).toHaveBeenCalledTimes(1);
  authenticate.mockResolvedValue(NOT_SIGNED_IN);
  await clock.sleep(1_000);
  expect(await isLetIn()).toBe(false);
});

describe('a host name', () => {
  const ALLOWED = null;
  test.each([
    ['sync.example.com', 'SYNC.example.com:443', ALLOWED],
    ['sync.example.com', 'example.com', 421],
    ['192.0.2.7', '192.0.2.7:8080', ALLOWED],
    ['192.0.2.7', '192.0.2.8:8080', 421],
    ['0.0.0.0', '192.0.2.8:8080', ALLOWED],
    ['0.0.0.0', '[2001:db8::1]:8080', ALLOWED],
    ['0.0.0.0', 'evil.example', 421],
    ['::', 'evil.example', 421],
    ['::1', '[::1]:8080', ALLOWED],
    ['127.0.0.1', '2130706433', 421],
    ['127.0.0.1', undefined, 400],
  ])('of a server on %s: %s', (host, header, status) => {
    expect(hostRefusal(header, { host, names: [] })?.status ?? null).toBe(status);
  });

  test('that is among the further names is answered, whatever the port', () => {
    const server = { host: '0.0.0.0', names: ['bms-sync', 'Sync.Example.com'] };
    expect(hostRefusal('bms-sync:8080', server)).toBeNull();
    expect(hostRefusal('sync.example.com', server)).toBeNull();
    expect(hostRefusal('bms-sync.evil.example', server)).toMatchObject({ status: 421 });
  });

  test('that is sent twice is refused: a proxy may have judged the other one', async () => {
    const { host, url } = await serveMirror(await mirror());
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET /health HTTP/1.1\r\nHost: ${host}\r\nhost: evil.example\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [^]*http\.bad_host/);
  });
});

describe('a health check', () => {
  const raw = async (url: string, head: string): Promise<string> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`${head}\r\n\r\n`);
    return await text(socket);
  };
  const close = 'Connection: close';

  test.each([
    'GET /health HTTP/1.0',
    'HEAD /health HTTP/1.0',
    'GET /health/ HTTP/1.0',
    'GET /ready HTTP/1.0',
    'HEAD /ready/ HTTP/1.0',
    `GET /ready HTTP/1.1\r\n${close}`,
    `HEAD /health HTTP/1.1\r\n${close}`,
    `GET /health/ HTTP/1.1\r\nHost: evil.example\r\n${close}`,
  ])('is answered: %s', async (head) => {
    const { url } = await serveMirror(await mirror());
    expect(await raw(url, head)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('under a foreign name gets one word, whatever token or cookie it has', async () => {
    const session = await mirror();
    const stage = await serveMirror(session);
    const known = `Authorization: Bearer ${TOKEN}\r\nCookie: ${await signIn(stage)}\r\n${close}`;
    const ask = async (path: string, host: string): Promise<readonly [string, string]> => {
      const answer = await raw(stage.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${known}`);
      return [answer.slice(9, 12), answer.split('\r\n\r\n')[1] ?? ''];
    };
    expect(await ask('/ready', stage.host)).toEqual(['200', expect.stringContaining('nothing was read yet')]);
    expect(await ask('/ready', 'evil.example')).toEqual(['200', '{"status":"ready"}']);
    await session.close();
    expect(await ask('/ready', 'evil.example')).toEqual(['503', '{"status":"unready"}']);
    expect(await ask('/health', 'evil.example')).toEqual(['200', '{"status":"ok"}']);
    expect(await ask('/v1/status', 'evil.example')).toEqual(['421', expect.anything()]);
  });
});

test('a form whose session has ended says that nothing was stored, and leads back to its page', async () => {
  const { url } = await serveMirror(await mirror());
  const send = async (referer: string): Promise<string> => {
    const body = new URLSearchParams({ name: 'Marie', role: 'viewer' });
    const answer = await fetch(`${url}/users`, { method: 'POST', body, headers: { origin: url, referer } });
    expect(answer.status).toBe(401);
    return await answer.text();
  };
  const page = await send(`${url}/users?x=1`);
  expect(page).toContain('Nothing was stored');
  expect(page).toContain('name="next" value="/users?x=1"');
  expect(await send('https://evil.example/users')).not.toContain('name="next"');
});

test('readiness is told to all, its reasons only to who has the token', async () => {
  const session = await mirror();
  const { url, get } = await serveMirror(session);
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  await session.close();
  const open = await fetch(`${url}/ready`);
  expect([open.status, (await jsonOf(open))['reasons']]).toEqual([503, undefined]);
  const readiness = await get('/ready');
  expect([readiness.status, (await jsonOf(readiness))['reasons']]).toEqual([503, [expect.any(String)]]);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

test('a damaged database file is a reason not to be ready, and part of the status', async () => {
  const session = await mirror();
  const { get } = await serveMirror(session);
  const now = new Date('2026-03-01T12:00:00Z');
  await session.atomically((tx) => saveCheck(tx, ['row 3 missing from index x'], now));
  const reason = 'the database file is damaged: row 3 missing from index x';
  const readiness = await get('/ready');
  expect([readiness.status, (await jsonOf(readiness))['reasons']]).toEqual([503, [reason]]);
  expect(await jsonOf(await get('/v1/status'))).toMatchObject({ damage: { reason } });
  expect(await (await get('/')).text()).toContain('row 3 missing from index x');
  await session.atomically((tx) => saveCheck(tx, [], now));
  expect((await get('/ready')).status).toBe(200);
  expect(await jsonOf(await get('/v1/status'))).toMatchObject({ damage: null });
});

test('a mistyped address is a page with a way back for a browser, and a problem for a program', async () => {
  const { url, get } = await serveMirror(await mirror());
  const asked = { accept: 'text/html,application/xhtml+xml' };
  const form = await fetch(`${url}/klients`, { headers: asked });
  expect([form.status, await form.text()]).toEqual([401, expect.stringContaining('action="/login"')]);
  const page = await get('/klients', asked);
  expect([page.status, await page.text()]).toEqual([404, expect.stringContaining('<a href="/">')]);
  expect((await get('/klients')).headers.get('content-type')).toBe('application/problem+json');
});
