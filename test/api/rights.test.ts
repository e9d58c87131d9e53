import { describe, expect, test } from 'vitest';
import { allows, FIRST_ADMIN, insertUser, USER_ROLES } from '../../src/mirror/people/user-store.ts';
import type { UserRole } from '../../src/mirror/people/user-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { asking } from '../http/ask.ts';
import { TOKEN, describedRoutes, serveMirror, signIn } from '../http/stage.ts';
import type { Stage } from '../http/stage.ts';
import { DATABASES } from '../mirror/databases.ts';
import { NOON } from '../mirror/temp-mirror.ts';

const OPEN = ['GET /health', 'GET /ready', 'GET /login', 'POST /login'];

/** Who may ask for each route: as the table of operations says; changes that are no operation stand here. */
function rights(stage: Stage): ReadonlyMap<string, UserRole> {
  const described = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');
  const table = new Map<string, UserRole>([
    ['POST /v1/outbox', 'operator'],
    ['POST /logout', 'viewer'],
  ]);
  for (const { path, role } of OPERATIONS)
    for (const place of ['/v1', '']) table.set(`POST ${place}${described(path)}`, role);
  const routes = describedRoutes(stage).filter((route) => !OPEN.includes(route));
  const isKnown = (route: string): boolean => route.startsWith('GET ') || table.has(route);
  expect(routes.filter((route) => !isKnown(route))).toEqual([]);
  return new Map(routes.map((route) => [route, table.get(route) ?? 'viewer']));
}

interface Person {
  readonly role: UserRole;
  readonly token: string;
  readonly proxied: Readonly<Record<string, string>> | null;
}

/** A user of each role, and the first admin, whom no proxy can name. */
async function people(session: Session): Promise<readonly Person[]> {
  for (const role of USER_ROLES)
    await session.atomically((tx) =>
      insertUser(tx, { name: `the ${role}`, role, token: `token-of-the-${role}`, now: NOON }),
    );
  const users = USER_ROLES.map((role) => ({
    role,
    token: `token-of-the-${role}`,
    proxied: { 'x-forwarded-user': `the ${role}` },
  }));
  return [...users, { role: FIRST_ADMIN.role, token: TOKEN, proxied: null }];
}

/** The headers by which a person comes in, for each way in. */
async function doorsOf(
  stage: Stage,
  { token, proxied }: Person,
): Promise<readonly (readonly [string, object])[]> {
  const origin = `http://${stage.host}`;
  return [
    ['bearer', { authorization: `Bearer ${token}` }],
    ['cookie', { cookie: await signIn(stage, token), origin }],
    ...(proxied === null ? [] : [['proxy', { ...proxied, origin }] as const]),
  ];
}

describe.each(DATABASES)('over a mirror in %s', (_name, open) => {
  test('every route is for the roles that the table of operations says, by every way in', async () => {
    const session = await open();
    const trustedHeader = { name: 'X-Forwarded-User', from: ['127.0.0.0/8'] };
    const stage = await serveMirror(session, { trustedHeader });
    const ask = asking(stage.url);
    const wrong: string[] = [];
    let asked = 0;
    for (const person of await people(session))
      for (const [door, headers] of await doorsOf(stage, person))
        for (const [route, needed] of rights(stage)) {
          const [method = '', place = ''] = route.split(' ');
          const path = place.replace('{id}', '1').replace('{kind}', 'clients').replace('{name}', 'shop');
          const body = method === 'GET' ? {} : { body: '{}' };
          const type = method === 'GET' ? {} : { 'content-type': 'application/json' };
          const { status, text } = await ask({ method, path, ...body, headers: { ...type, ...headers } });
          const isRefused = status === 403 && text.includes(`for the role ${needed};`);
          const isLetIn = ![401, 403, 429].includes(status) && status < 500;
          asked++;
          if (!(allows(person.role, needed) ? isLetIn : isRefused))
            wrong.push(`${person.role} by ${door}: ${route}: ${status}`);
        }
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(600);
  });
});

describe.each(DATABASES.slice(0, 1))('a refusal', (_name, open) => {
  test('is a problem for a program, and a page for a person', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await people(session);
    const headers = { authorization: 'Bearer token-of-the-viewer' };
    const problem = await stage.post('/v1/pulls', {}, headers);
    expect([problem.status, await problem.json()]).toEqual([
      403,
      expect.objectContaining({
        code: 'http.forbidden',
        detail: 'This is for the role operator; the viewer is viewer.',
      }),
    ]);
    const page = await stage.post('/pulls', {}, headers);
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('This is for the role operator');
  });
});
