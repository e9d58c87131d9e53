import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { SyncError } from '../../src/lib/sync-error.ts';
import { deleteUser, insertUser, type UserRole } from '../../src/store/users/user-store.ts';
import { MirrorError } from '../../src/db/session/errors.ts';
import type { Session } from '../../src/db/session/session.ts';
import { at, putChanges } from '../events/support.ts';
import { canary } from '../support/canary.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { thrownBy } from '../store/temp-mirror.ts';
import { httpClient } from './ask.ts';
import { jsonOf, serveMirror, signIn, TOKEN, type Stage } from './stage.ts';

const MARIE = `marie-${canary('-9c1d7f3b5e2a8460')}`;
const HEADER = 'x-forwarded-user';

const add = (session: Session, name: string, token = MARIE, role: UserRole = 'operator'): Promise<boolean> =>
  session.atomically((tx) => insertUser(tx, { name, role, token }));

const remove = (session: Session, name: string): Promise<boolean> =>
  session.atomically((tx) => deleteUser(tx, name));

const statusOf = async (
  { url }: Stage,
  headers: Readonly<Record<string, string>>,
  path = '/v1/runs',
): Promise<number> => (await fetch(url + path, { headers, redirect: 'manual' })).status;

describe.each(ONE_DATABASE)('a user of a mirror in %s', (_name, open) => {
  test('is let in by a token or the cookie for it, until the user is removed or gets a new token', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await add(session, 'Marie');
    const bearer = { authorization: `Bearer ${MARIE}` };
    const cookie = { cookie: await signIn(stage, MARIE) };
    expect(cookie.cookie).not.toContain(MARIE);
    expect([await statusOf(stage, bearer), await statusOf(stage, cookie)]).toEqual([200, 200]);
    expect(await (await fetch(stage.url, { headers: cookie })).text()).toMatch(/Marie <span[^>]*>operator</);
    expect(await remove(session, 'MARIE')).toBe(true);
    expect([await statusOf(stage, bearer), await statusOf(stage, cookie)]).toEqual([401, 401]);
    await add(session, 'marie', `${MARIE}2`);
    expect([await statusOf(stage, bearer), await statusOf(stage, cookie)]).toEqual([401, 401]);
    expect(await statusOf(stage, { cookie: await signIn(stage, `${MARIE}2`) })).toBe(200);
    expect(stage.log.join('\n')).not.toContain(MARIE);
  });

  test('who is removed gets no further event of an open stream', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await add(session, 'Marie');
    const headers = { authorization: `Bearer ${MARIE}`, accept: 'text/event-stream' };
    const answer = await fetch(`${stage.url}/v1/changes`, { headers });
    await remove(session, 'Marie');
    const event = { kind: 'clients', record_id: '1', change: 'created', after: '{}' };
    await putChanges(session, { ...event, observed_at: at('12:00') });
    const text = await answer.text(); // It ends.
    expect([answer.status, text]).toEqual([200, expect.not.stringContaining('data:')]);
  });

  test('whose token cannot be looked up is told neither where the mirror is nor why', async () => {
    const session = await open();
    const away = new MirrorError(`${session.location} is away.`, { code: 'mirror.unreachable' });
    const stage = await serveMirror({ ...session, query: () => Promise.reject(away) });
    const answer = await stage.get('/v1/runs', { authorization: `Bearer ${MARIE}` });
    const problem = await jsonOf(answer);
    expect([answer.status, problem]).toEqual([503, expect.objectContaining({ code: 'server.not_ready' })]);
    expect(JSON.stringify(problem)).not.toContain(session.location);
  });

  test('has a name of any case, once, with accents however they are encoded', async () => {
    const session = await open();
    expect(await add(session, 'Éloïse', 'a')).toBe(true);
    expect(await add(session, 'éloïse'.normalize('NFD'), 'b')).toBe(false);
  });
});

describe.each(ONE_DATABASE)('a proxy that signs in', (_name, open) => {
  const trustedHeader = { name: 'X-Forwarded-User', from: ['127.0.0.1', '2001:db8::/32'] };

  test('names the person, who decides by pages of this host alone', async () => {
    const session = await open();
    const stage = await serveMirror(session, { trustedHeader });
    await add(session, 'marie@example.com');
    const named = { [HEADER]: 'Marie@example.com' };
    expect(await statusOf(stage, named)).toBe(200);
    const page = await (await fetch(stage.url, { headers: named })).text();
    expect(page).toContain('marie@example.com');
    expect(page).not.toContain('Sign out'); // Of the proxy's session only the proxy can sign out.
    const pull = (headers: object) => httpClient(stage.url)({ method: 'POST', path: '/pulls', headers: { ...named, ...headers } }); // prettier-ignore
    expect((await pull({})).status).toBe(403);
    expect((await pull({ origin: 'http://elsewhere.example' })).status).toBe(403);
    expect((await pull({ origin: stage.url })).status).toBe(303);
  });

  test('may name somebody with accents, and nobody, whose token then counts', async () => {
    const session = await open();
    const stage = await serveMirror(session, { trustedHeader });
    await add(session, 'Éloïse');
    const ask = httpClient(stage.url);
    const utf8 = Buffer.from('Éloïse').toString('latin1');
    expect((await ask({ path: '/v1/runs', headers: { [HEADER]: utf8 } })).status).toBe(200);
    const bearer = { authorization: `Bearer ${MARIE}` };
    expect(await statusOf(stage, { [HEADER]: '', ...bearer })).toBe(200);
    expect(await statusOf(stage, { [HEADER]: '' })).toBe(401);
  });

  test('who is no user is refused, and so is who calls themselves the first admin', async () => {
    const session = await open();
    const stage = await serveMirror(session, { trustedHeader });
    await add(session, 'Marie');
    for (const name of ['mallory', 'admin', 'Marie, Marie', 'Marie%00']) {
      const answer = await stage.get('/v1/runs', { [HEADER]: name });
      expect([answer.status, await jsonOf(answer)]).toEqual([
        403,
        expect.objectContaining({ code: 'http.unknown_person' }),
      ]);
    }
    const page = await fetch(stage.url, { headers: { [HEADER]: 'mallory' } });
    expect([page.status, await page.text()]).toEqual([
      403,
      expect.stringContaining('does not exist in bms-sync'),
    ]);
  });

  test('is not whoever sends the header from elsewhere, whatever else they send', async () => {
    const session = await open();
    const elsewhere = { ...trustedHeader, from: ['10.0.0.0/8', '127.0.0.2'] };
    const stage = await serveMirror(session, { trustedHeader: elsewhere });
    await add(session, 'Marie');
    const cookie = await signIn(stage, MARIE);
    for (const more of [{}, { cookie }, { authorization: `Bearer ${MARIE}` }]) {
      const answer = await fetch(`${stage.url}/v1/runs`, { headers: { [HEADER]: 'Marie', ...more } });
      expect([answer.status, await jsonOf(answer)]).toEqual([
        403,
        expect.objectContaining({ code: 'http.forged_person' }),
      ]);
    }
    expect(await statusOf(stage, { cookie })).toBe(200);
  });

  test('is nobody where the setting names none, and needs an admin token where it does', async () => {
    const session = await open();
    await add(session, 'Marie');
    expect(await statusOf(await serveMirror(session), { [HEADER]: 'Marie' })).toBe(401);
    const error = await thrownBy(() => serveMirror(session, { trustedHeader, token: null }));
    expect(error instanceof SyncError && error.code).toBe('server.token_required');
  });
});

describe.each(ONE_DATABASE)('signing out of %s', (_name, open) => {
  test('ends the session, so that a copy of its cookie is worth nothing; another browser stays signed in', async () => {
    const stage = await serveMirror(await open());
    const cookie = await signIn(stage);
    const other = await signIn(stage);
    const leave = (origin: string): Promise<Response> =>
      fetch(`${stage.url}/logout`, { method: 'POST', headers: { cookie, origin }, redirect: 'manual' });
    expect((await leave('http://elsewhere.example')).status).toBe(403);
    const left = await leave(stage.url);
    expect([left.status, left.headers.get('location')]).toEqual([303, '/login']);
    expect(left.headers.get('set-cookie')).toMatch(/^bms_sync_session=; Max-Age=0; Path=\/;/);
    expect([await statusOf(stage, { cookie }), await statusOf(stage, { cookie: other })]).toEqual([401, 200]);
  });

  test('forgets ended sessions once their cookies have expired', async () => {
    const session = await open();
    const clock = fakeClock();
    const stage = await serveMirror(session, { clock });
    const leave = async (): Promise<void> => {
      const cookie = await signIn(stage);
      await fetch(`${stage.url}/logout`, {
        method: 'POST',
        headers: { cookie, origin: stage.url },
        redirect: 'manual',
      });
    };
    const ended = () => session.query(sql`select 1 from mirror_meta where key like 'signed_out.%'`);
    await leave();
    await leave();
    expect(await ended()).toHaveLength(2);
    await clock.sleep(43_200_000);
    await leave();
    expect(await ended()).toHaveLength(1);
  });
});

test('one user may open eight streams, and leaves the others to the others', async () => {
  const [[, open] = []] = ONE_DATABASE;
  if (open === undefined) throw new Error('no database');
  const session = await open();
  const stage = await serveMirror(session);
  await add(session, 'Marie', MARIE, 'viewer');
  const stopping = new AbortController();
  const stream = (token: string): Promise<Response> =>
    fetch(`${stage.url}/v1/changes`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      signal: stopping.signal,
    });
  const answers: Response[] = [];
  for (let n = 0; n < 9; n += 1) answers.push(await stream(MARIE));
  expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 8 }, () => 200), 503]);
  expect((await stream(TOKEN)).status).toBe(200);
  stopping.abort();
});
