import { SENDING } from '../feed/webhooks/stage.ts';
import { hostname, userInfo } from 'node:os';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { listDecisions, type StoredDecision } from '../../src/store/users/decision-store.ts';
import { closePlan, insertPlan } from '../../src/store/outbox/plan-store.ts';
import { insertUser } from '../../src/store/users/user-store.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { serveMirror, signIn, type Stage } from '../http/stage.ts';
import { NOON, putRecords } from '../store/temp-mirror.ts';
import { run, type Env } from '../support/command-line.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

const ADDRESSES = [
  ['SQLite', async () => `file:${await grownMirror()}`],
  ['PostgreSQL', () => freshDatabaseUrl('template_grown')],
] as const;

const MARIE = 'token-of-marie';
const AT_COMMAND_LINE = `${userInfo().username}@${hostname()}`;
const URL_WITH_SECRET = 'http://127.0.0.1:9/in?key=url-secret';

interface Case {
  /** What the API is given; `{n}` differs each time. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly argv?: readonly string[];
  readonly decision: readonly [what: string, target: string | null, detail: string | null];
}

/** For each operation something that can be done, and what the trail then says. */
const CASES: Readonly<Record<string, Case>> = {
  '/pulls': { input: { kinds: 'clients' }, decision: ['pull', 'clients', null] },
  '/outbox/:id/retry': {
    input: { id: '1' },
    argv: ['outbox', 'retry', '1'],
    decision: ['outbox retry', '1', null],
  },
  '/outbox/:id/abandon': {
    input: { id: '1' },
    argv: ['outbox', 'abandon', '1'],
    decision: ['outbox abandon', '1', null],
  },
  '/outbox/:id/adopt': {
    input: { id: '1', recordId: '17' },
    argv: ['outbox', 'adopt', '1', '17'],
    decision: ['outbox adopt', '1', 'recordId 17'],
  },
  '/outbox/resume': { input: {}, argv: ['outbox', 'resume'], decision: ['outbox resume', null, null] },
  '/deletions/:kind/approve': {
    input: { kind: 'clients' },
    argv: ['deletions', 'approve', 'clients'],
    decision: ['deletions approve', 'clients', null],
  },
  '/deletions/:kind/reject': {
    input: { kind: 'clients' },
    argv: ['deletions', 'reject', 'clients'],
    decision: ['deletions reject', 'clients', null],
  },
  '/plans/:id/approve': {
    input: { id: '1' },
    argv: ['approve', '1'],
    decision: ['plans approve', '1', null],
  },
  '/plans/:id/apply': { input: { id: '1' }, argv: ['apply', '1'], decision: ['plans apply', '1', null] },
  '/plans/:id/undo': { input: { id: '2' }, argv: ['undo', '2'], decision: ['plans undo', '2', null] },
  '/webhooks': {
    input: { name: 'new{n}', url: URL_WITH_SECRET, kinds: ['clients'] },
    argv: ['webhooks', 'add', URL_WITH_SECRET, '--name', 'new{n}', '--kinds', 'clients'],
    decision: ['webhooks add', 'new{n}', 'kinds clients; format json'],
  },
  '/webhooks/:name/test': {
    input: { name: 'shop' },
    argv: ['webhooks', 'test', 'shop'],
    decision: ['webhooks test', 'shop', null],
  },
  '/webhooks/:name/rotate': {
    input: { name: 'shop' },
    argv: ['webhooks', 'rotate', 'shop'],
    decision: ['webhooks rotate', 'shop', null],
  },
  '/webhooks/:name/enable': { input: { name: 'shop' }, decision: ['webhooks enable', 'shop', null] },
  '/webhooks/:name/disable': { input: { name: 'shop' }, decision: ['webhooks disable', 'shop', null] },
  '/webhooks/:name/replay': {
    input: { name: 'shop', after: '0' },
    argv: ['webhooks', 'replay', 'shop', '--after', '0'],
    decision: ['webhooks replay', 'shop', 'after 0'],
  },
  '/webhooks/:name/remove': {
    input: { name: 'shop' },
    argv: ['webhooks', 'remove', 'shop'],
    decision: ['webhooks remove', 'shop', null],
  },
  '/users': {
    input: { name: 'new {n}', role: 'operator' },
    argv: ['users', 'add', 'new {n}', '--role', 'operator'],
    decision: ['users add', 'new {n}', 'role operator'],
  },
  '/users/:name/role': {
    input: { name: 'Somebody', role: 'operator' },
    argv: ['users', 'role', 'Somebody', 'operator'],
    decision: ['users role', 'Somebody', 'role operator'],
  },
  '/users/:name/remove': {
    input: { name: 'Somebody' },
    argv: ['users', 'remove', 'Somebody'],
    decision: ['users remove', 'Somebody', null],
  },
};

interface Scene {
  readonly session: Session;
  readonly stage: Stage;
  readonly env: Env;
  readonly cookie: string;
}

async function scene(url: string): Promise<Scene> {
  const session = await openSession(url);
  onTestFinished(() => session.close());
  const stage = await serveMirror(session, { webhooks: SENDING });
  await session.atomically(async (tx) => {
    await insertUser(tx, { name: 'Marie', role: 'admin', token: MARIE });
    await putRecords(tx, 'clients', [{ id: '17', _raw: '{"id":17}' }]);
    const plan = { kind: 'clients', origin: 'clients.csv', createdBy: 'Ada', now: NOON };
    const cells = '[{"field":"name","old":null,"new":"Zénobie"}]';
    const row = { position: 2, operation: 'update', recordId: '17', cells, refusal: null } as const;
    await insertPlan(tx, plan, [row]);
    await closePlan(tx, await insertPlan(tx, plan, []), 'Marie', NOON);
  });
  const create = { operation: 'create', kind: 'clients', data: { code: 'C-1', name: 'Zénobie' } };
  await stage.post('/v1/outbox', create, { 'idempotency-key': 'one' });
  const env = { DATABASE_URL: url, BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]' };
  return { session, stage, env, cookie: await signIn(stage, MARIE) };
}

/** Makes everything possible again that a decision may have ended. */
async function prepare({ session, stage }: Scene): Promise<void> {
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  await session.atomically(async (tx) => {
    await tx.query(sql`update outbox set state = 'parked', owner = null where id = 1`);
    await tx.query(sql`update plans set state = 'open' where id = 1`);
    await tx.query(sql`delete from links`);
    await tx.query(sql`delete from deletions`);
    await saveAbsences(tx, 'clients', [{ ...absence, id: '17', state: 'held' }]);
    await insertUser(tx, { name: 'Somebody', role: 'viewer', token: 'token-of-somebody' });
  });
  await stage.post('/v1/webhooks', { name: 'shop', url: URL_WITH_SECRET }); // Or it is there.
}

const wordsOf = ({ who, role, via, what, target, detail }: StoredDecision) => {
  return { who, role, via, what, target, detail };
};

let made = 0;

const numbered = (value: unknown, n: number): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll('{n}', String(n))) as unknown;

/** The ways to carry an operation out; each must succeed. */
function doorsTo({ stage, env, cookie }: Scene, path: string, n: number) {
  const one = CASES[path];
  const operation = OPERATIONS.find((known) => known.path === path);
  if (one === undefined || operation === undefined) throw new Error(`No case of ${path}`);
  const input = numbered(one.input, n) as Record<string, unknown>;
  const at = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])));
  const body = Object.fromEntries(Object.entries(input).filter(([name]) => !path.includes(`:${name}`)));
  const api = async (): Promise<void> => {
    const { status } = await stage.post(`/v1${at}`, body, { authorization: `Bearer ${MARIE}` });
    expect([path, status]).toEqual([path, operation.status ?? 200]);
  };
  const page = async (): Promise<void> => {
    const form = new URLSearchParams(body as Record<string, string>);
    const headers = { cookie, origin: stage.url };
    const { status } = await fetch(stage.url + at, {
      method: 'POST',
      headers,
      body: form,
      redirect: 'manual',
    });
    expect([path, status]).toEqual([path, 303]);
  };
  const command = async (): Promise<void> => {
    const { code, stderr } = await run(numbered(one.argv, n) as readonly string[], env);
    expect([path, code, stderr]).toEqual([path, path.endsWith('/test') ? 1 : 0, '']); // Nothing takes the test event.
  };
  return {
    api,
    ...(operation.words.notice !== undefined && { page }),
    ...(one.argv !== undefined && { command }),
  };
}

describe.each(ADDRESSES)('the trail of a mirror in %s', (_name, address) => {
  test('has one row for each decision, by every door, with who made it', { timeout: 120_000 }, async () => {
    const here = await scene(await address());
    expect(Object.keys(CASES).toSorted()).toEqual(OPERATIONS.map(({ path }) => path).toSorted());
    for (const [path, { decision }] of Object.entries(CASES))
      for (const door of ['api', 'page', 'command'] as const) {
        made++;
        const act = doorsTo(here, path, made)[door];
        if (act === undefined) continue;
        await prepare(here);
        const [before] = await listDecisions(here.session, 1);
        await act();
        const rows = await listDecisions(here.session, 9);
        const added = rows.filter(({ id }) => id > (before?.id ?? 0)).map(wordsOf);
        const [what, target, detail] = numbered(decision, made) as Case['decision'];
        const who = door === 'command' ? AT_COMMAND_LINE : 'Marie';
        const expected = { who, role: 'admin', via: door, what, target, detail };
        expect(added).toEqual([expected]);
      }
    const all = JSON.stringify(await listDecisions(here.session, 1000));
    for (const secret of ['url-secret', 'Zénobie', MARIE]) expect(all).not.toContain(secret);
  });

  test('has nothing of what was not done', async () => {
    const here = await scene(await address());
    const count = async (): Promise<number> => (await listDecisions(here.session, 1000)).length;
    const before = await count();
    expect((await here.stage.post('/v1/deletions/clients/approve')).status).toBe(409);
    expect((await here.stage.post('/v1/outbox/1/retry')).status).toBe(409);
    expect((await here.stage.post('/v1/webhooks/nothing/disable')).status).toBe(404);
    expect((await here.stage.post('/v1/users', { name: 'MARIE' })).status).toBe(409);
    expect((await here.stage.post('/v1/users', { name: 'Admin' })).status).toBe(409);
    expect(await count()).toBe(before);
  });

  test('has a push once, by API or command, and a record that was forgotten by its id alone', async () => {
    const here = await scene(await address());
    const entry = (code: string): string =>
      JSON.stringify({ operation: 'create', kind: 'clients', key: code, data: { code, name: 'Zénobie' } });
    const batch = [`${entry('B-1')}\n${entry('B-2')}\n`];
    const push = () => run(['push', '--batch'], here.env, undefined, batch);
    expect([(await push()).code, (await push()).code]).toEqual([0, 0]);
    expect((await run(['forget', 'clients', '17', '--suppress', '--yes'], here.env)).code).toBe(0);
    const rows = await listDecisions(here.session, 9);
    expect(rows.map(({ who, via, what, target, detail }) => [who, via, what, target, detail])).toEqual([
      [AT_COMMAND_LINE, 'command', 'forget', 'clients 17', 'suppress'],
      [AT_COMMAND_LINE, 'command', 'push', '2-3', 'entries 2'],
      ['admin', 'api', 'push', '1', 'entries 1'],
    ]);
  });
});
