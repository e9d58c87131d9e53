import { describe, expect, test } from 'vitest';
import { isRoleAllowed, insertUser, USER_ROLES, type UserRole } from '../../src/store/users/user-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { OPERATIONS } from '../support/operations.ts';
import { httpClient, type Asked } from '../http/ask.ts';
import { TOKEN, describedRoutes, serveMirror, signIn, type Stage } from '../http/stage.ts';
import { ONE_DATABASE } from '../store/databases.ts';

const OPEN = ['GET /health', 'GET /ready', 'GET /login', 'POST /login', 'POST /language'];

/** Who may ask for each route: as the table of operations says; changes that are not operation stand here. */
function rights(stage: Stage): ReadonlyMap<string, UserRole> {
  const described = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');
  const table = new Map<string, UserRole>([
    ['POST /v1/outbox', 'writer'],
    ['POST /v1/outbox/batch', 'writer'],
    ['POST /logout', 'viewer'],
    ['GET /v1/users', 'admin'],
    ['GET /users', 'admin'],
    ['POST /users', 'admin'],
    ['POST /v1/plans', 'operator'],
    ['POST /plans', 'operator'],
  ]);
  for (const { path, role } of OPERATIONS)
    for (const place of ['/v1', '']) table.set(`POST ${place}${described(path)}`, role);
  const routes = describedRoutes(stage).filter((route) => !OPEN.includes(route));
  const isKnown = (route: string): boolean => route.startsWith('GET ') || table.has(route);
  expect(routes.filter((route) => !isKnown(route))).toEqual([]);
  routes.sort((one, other) => Number(one === 'POST /logout') - Number(other === 'POST /logout')); // The last one: it ends the session.
  return new Map(routes.map((route) => [route, table.get(route) ?? 'viewer']));
}

interface KnownCaller {
  readonly role: UserRole;
  readonly door: 'bearer' | 'cookie' | 'proxy';
  readonly headers: Readonly<Record<string, string>>;
}

const tokenOf = (role: UserRole): string => `token-of-the-${role}`;

/** A user of each role. */
async function addUsers(session: Session): Promise<void> {
  for (const role of USER_ROLES)
    await session.atomically((tx) => insertUser(tx, { name: `the ${role}`, role, token: tokenOf(role) }));
}

/** Everybody by every way in: a user of each role, and the first admin, whom no proxy can name. */
async function callers(session: Session, stage: Stage): Promise<readonly KnownCaller[]> {
  await addUsers(session);
  const origin = `http://${stage.host}`;
  const byToken = async (role: UserRole, token: string): Promise<KnownCaller[]> => [
    { role, door: 'bearer', headers: { authorization: `Bearer ${token}` } },
    { role, door: 'cookie', headers: { cookie: await signIn(stage, token), origin } },
  ];
  const users = USER_ROLES.map((role) => byToken(role, tokenOf(role)));
  const proxied = USER_ROLES.map((role) => {
    return { role, door: 'proxy', headers: { 'x-forwarded-user': `the ${role}`, origin } } as const;
  });
  return [...(await Promise.all([...users, byToken('admin', TOKEN)])).flat(), ...proxied];
}

/** A request that the route understands, though it may refuse what is in it. */
function requestOf(route: string, headers: KnownCaller['headers']): Asked {
  const [method = '', place = ''] = route.split(' ');
  const path = place
    .replace('{id}', '1')
    .replace('{kind}', 'clients')
    .replace('{name}', 'shop')
    .replace('{view}', 'clients');
  if (method === 'GET') return { method, path, headers };
  return { method, path, body: '{}', headers: { 'content-type': 'application/json', ...headers } };
}

describe.each(ONE_DATABASE)('over a mirror in %s', (_name, open) => {
  test('every route is for the roles that the table of operations says, by every way in', async () => {
    const session = await open();
    const trustedHeader = { name: 'X-Forwarded-User', from: ['127.0.0.0/8'] };
    const stage = await serveMirror(session, { trustedHeader });
    const ask = httpClient(stage.url);
    const table = [...rights(stage)];
    const wrong: string[] = [];
    for (const caller of await callers(session, stage))
      for (const [route, needed] of table) {
        const { status, text } = await ask(requestOf(route, caller.headers));
        const isRefused = status === 403 && text.includes(`needs the role ${needed};`);
        const isLetIn = ![401, 403, 429].includes(status) && status < 500;
        if (!(isRoleAllowed(caller.role, needed) ? isLetIn : isRefused))
          wrong.push(`${caller.role} by ${caller.door}: ${route}: ${status}`);
      }
    expect(wrong).toEqual([]);
    expect(table.length).toBeGreaterThan(55);
    const named = ['GET /users', 'GET /exports', 'GET /v1/users', 'POST /v1/plans', 'GET /v1/export/{view}'];
    expect(named.filter((route) => !table.some(([each]) => each === route))).toEqual([]);
  });

  test('assistants are let in by the token of any role, and by nothing that a browser sends by itself', async () => {
    const session = await open();
    const trustedHeader = { name: 'X-Forwarded-User', from: ['127.0.0.0/8'] };
    const stage = await serveMirror(session, { trustedHeader });
    const ask = httpClient(stage.url);
    const strangers = [{}, { authorization: 'Bearer no-such-token' }].map((headers) => ({
      door: 'none',
      headers,
    }));
    for (const { door, headers } of [...(await callers(session, stage)), ...strangers])
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status } = await ask(requestOf(`${method} /mcp`, headers));
        expect([door, method, status === 401]).toEqual([door, method, door !== 'bearer']);
        expect(status).toBeLessThan(500);
      }
  });
});

describe.each(ONE_DATABASE)('a refusal', (_name, open) => {
  test('is a problem for a program, and a page for a person', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await addUsers(session);
    const headers = { authorization: 'Bearer token-of-the-viewer' };
    const problem = await stage.post('/v1/pulls', {}, headers);
    expect([problem.status, await problem.json()]).toEqual([
      403,
      expect.objectContaining({
        code: 'http.forbidden',
        detail: 'This needs the role operator; the viewer is viewer.',
      }),
    ]);
    const page = await stage.post('/pulls', {}, headers);
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('This needs the role operator');
  });
});

describe.each(ONE_DATABASE)('a writer of a mirror in %s', (_name, open) => {
  test('pushes, sees and offers no decision, and cannot create a second record with a natural key', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await addUsers(session);
    const push = (key: string, role: UserRole, more: object = {}): Promise<Response> =>
      stage.post(
        '/v1/outbox',
        { operation: 'create', kind: 'clients', data: { code: 'C-1' }, ...more },
        { authorization: `Bearer ${tokenOf(role)}`, 'idempotency-key': key },
      );
    expect((await push('one', 'writer')).status).toBe(202);
    const double = await push('two', 'writer', { allowDouble: true });
    expect([double.status, await double.json()]).toEqual([
      403,
      expect.objectContaining({
        code: 'http.forbidden',
        detail: 'body: allowDouble needs the role operator; the writer is writer.',
      }),
    ]);
    expect((await push('two', 'writer', { allowDouble: false })).status).toBe(422);
    expect((await push('two', 'operator', { allowDouble: true })).status).toBe(202);
    const page = await stage.get('/outbox/1', { authorization: `Bearer ${tokenOf('writer')}` });
    expect([page.status, await page.text()]).toEqual([200, expect.not.stringContaining('abandon')]);
  });
});
