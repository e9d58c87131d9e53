import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { insertUser } from '../../src/store/users/user-store.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { serveMirror, signIn, type Stage } from '../http/stage.ts';

const pageOf = async ({ get }: Stage, path: string, headers = {}): Promise<string> =>
  (await (await get(path, headers)).text()).replaceAll(/\s+/g, ' ');

async function submit(stage: Stage, path: string, fields: Record<string, string>): Promise<Response> {
  const headers = { cookie: await signIn(stage), origin: stage.url };
  const body = new URLSearchParams(fields);
  return fetch(stage.url + path, { method: 'POST', body, headers, redirect: 'manual' });
}

const addMarie = (session: Session): Promise<boolean> =>
  session.atomically((tx) => insertUser(tx, { name: 'Marie Roy', role: 'operator', token: 'of-marie' }));

describe.each(ONE_DATABASE)('the page of users of a mirror in %s', (_name, open) => {
  test('adds a user, and shows the token this once', async () => {
    const stage = await serveMirror(await open());
    const answer = await submit(stage, '/users', { name: '<Ada>', role: 'operator' });
    const refused = (await answer.text()).replaceAll(/\s+/g, ' ');
    expect([answer.status, refused]).toEqual([400, expect.stringContaining('name: expected')]);
    expect(refused).toContain('name="name" value="&lt;Ada&gt;"');
    expect(refused).toMatch(/<option value="operator" selected ?>/);
    expect(refused).not.toMatch(/openapi|body\//);
    const added = await (await submit(stage, '/users', { name: 'Ada', role: 'operator' })).text();
    const token = /class="token"\s+value="([^"]{43})"/.exec(added)?.[1] ?? '';
    expect((await stage.get('/v1/status', { authorization: `Bearer ${token}` })).status).toBe(200);
    expect(await pageOf(stage, '/users')).not.toContain(token);
    expect(stage.log.join('\n')).not.toContain(token);
    const again = await submit(stage, '/users', { name: 'ada', role: 'viewer' });
    expect([again.status, await again.text()]).toEqual([409, expect.stringContaining('already exists')]);
  });

  test('gives a user a new token, shown this once; the old one ends', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await addMarie(session);
    expect(await pageOf(stage, '/users')).toContain('action="/users/Marie%20Roy/rotate"');
    const rotated = await (await submit(stage, '/users/Marie%20Roy/rotate', { back: '/users' })).text();
    expect(rotated).toContain('Marie Roy has a new token');
    const token = /class="token"\s+value="([^"]{43})"/.exec(rotated)?.[1] ?? '';
    const statuses = ['of-marie', token].map(async (each) => {
      return (await stage.get('/v1/status', { authorization: `Bearer ${each}` })).status;
    });
    expect(await Promise.all(statuses)).toEqual([401, 200]);
    expect((await submit(stage, '/users/nobody/rotate', { back: '/users' })).status).toBe(404);
  });

  test('gives a user another role, which counts from the next request on, and removes the user', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await addMarie(session);
    const marie = { authorization: 'Bearer of-marie' };
    expect((await stage.get('/users', marie)).status).toBe(403);
    expect(await pageOf(stage, '/', marie)).not.toContain('href="/users"');
    const changed = await submit(stage, '/users/Marie%20Roy/role', { role: 'admin', back: '/users' });
    expect([changed.status, changed.headers.get('location')]).toEqual([303, '/users?done=users%20role']);
    expect(await pageOf(stage, '/users', marie)).toMatch(/Marie Roy.*<option value="admin" selected ?>/);
    expect((await submit(stage, '/users/Marie%20Roy/role', { role: 'owner' })).status).toBe(400);
    expect((await submit(stage, '/users/nobody/role', { role: 'viewer' })).status).toBe(404);
    expect((await submit(stage, '/users/Marie%20Roy/remove', { back: '/users' })).status).toBe(303);
    expect((await stage.get('/v1/status', marie)).status).toBe(401);
  });
});
