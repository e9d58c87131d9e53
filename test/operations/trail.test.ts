import { SENDING } from '../events/webhooks/stage.ts';
import { hostname, userInfo } from 'node:os';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { listDecisions, type StoredDecision } from '../../src/store/users/decision-store.ts';
import { decidePlan, insertPlan } from '../../src/features/plans/store.ts';
import { insertUser } from '../../src/store/users/user-store.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import { OPERATIONS } from '../support/operations.ts';
import { serveMirror, signIn, type Stage } from '../http/stage.ts';
import { NOON, NOON_TEXT, putRecords } from '../store/temp-mirror.ts';
import { run, type Env } from '../support/command-line.ts';
import { GROWN_URLS } from '../support/grown-urls.ts';

const MARIE = 'token-of-marie';
const AT_COMMAND_LINE = `${userInfo().username}@${hostname()}`;
const URL_WITH_SECRET = 'http://127.0.0.1:9/in?key=url-secret';

/** What the API is given, what the command line is given, and what, to what and how the trail says was done. */
type Case = readonly [input: Readonly<Record<string, unknown>>, argv: string | null, decision: string];

/** For each operation something that can be done; `{n}` differs each time. */
const CASES: Readonly<Record<string, Case>> = {
  '/pulls': [{ kinds: 'clients' }, null, 'pull|clients|'],
  '/backfills': [{ kind: 'clients', ids: '7,9' }, null, 'backfill|clients|ids 7,9'],
  '/outbox/:id/retry': [{ id: '1' }, 'outbox retry 1', 'outbox retry|1|'],
  '/outbox/:id/abandon': [{ id: '1' }, 'outbox abandon 1', 'outbox abandon|1|'],
  '/outbox/:id/adopt': [{ id: '1', recordId: '17' }, 'outbox adopt 1 17', 'outbox adopt|1|recordId 17'],
  '/outbox/resume': [{}, 'outbox resume', 'outbox resume||'],
  '/deletions/:kind/approve': [
    { kind: 'clients' },
    'deletions approve clients',
    'deletions approve|clients|',
  ],
  '/deletions/:kind/reject': [{ kind: 'clients' }, 'deletions reject clients', 'deletions reject|clients|'],
  '/plans/:id/approve': [{ id: '1' }, 'approve 1', 'plans approve|1|'],
  '/plans/:id/reject': [{ id: '1', reason: 'no' }, 'reject 1 --reason no', 'plans reject|1|'],
  '/plans/:id/withdraw': [{ id: '1' }, 'withdraw 1', 'plans withdraw|1|'],
  '/plans/:id/apply': [{ id: '1' }, 'apply 1', 'plans apply|1|'],
  '/plans/:id/undo': [{ id: '2' }, 'undo 2', 'plans undo|2|'],
  '/webhooks': [
    { name: 'new{n}', url: URL_WITH_SECRET, kinds: ['clients'] },
    `webhooks add ${URL_WITH_SECRET} --name new{n} --kinds clients`,
    'webhooks add|new{n}|kinds clients; format json',
  ],
  '/webhooks/:name/test': [{ name: 'shop' }, 'webhooks test shop', 'webhooks test|shop|'],
  '/webhooks/:name/rotate': [{ name: 'shop' }, 'webhooks rotate shop', 'webhooks rotate|shop|'],
  '/webhooks/:name/enable': [{ name: 'shop' }, 'webhooks enable shop', 'webhooks enable|shop|'],
  '/webhooks/:name/disable': [{ name: 'shop' }, 'webhooks disable shop', 'webhooks disable|shop|'],
  '/webhooks/:name/replay': [
    { name: 'shop', after: '0' },
    'webhooks replay shop --after 0',
    'webhooks replay|shop|after 0',
  ],
  '/webhooks/:name/remove': [{ name: 'shop' }, 'webhooks remove shop', 'webhooks remove|shop|'],
  '/users': [
    { name: 'new-{n}', role: 'operator' },
    'users add new-{n} --role operator',
    'users add|new-{n}|role operator',
  ],
  '/users/:name/role': [
    { name: 'Somebody', role: 'operator' },
    'users role Somebody operator',
    'users role|Somebody|role operator',
  ],
  '/users/:name/rotate': [{ name: 'Somebody' }, 'users rotate Somebody', 'users rotate|Somebody|'],
  '/users/:name/remove': [{ name: 'Somebody' }, 'users remove Somebody', 'users remove|Somebody|'],
};

interface Scene {
  readonly session: Session;
  readonly stage: Stage;
  readonly env: Env;
  readonly cookie: string;
  /** How often commits were asked to survive a power cut. */
  readonly durable: () => number;
}

async function scene(url: string): Promise<Scene> {
  const session = await openSession(url);
  onTestFinished(() => session.close());
  let durable = 0;
  const makeDurable = (): Promise<void> => {
    durable += 1;
    return session.makeDurable();
  };
  const stage = await serveMirror({ ...session, makeDurable }, { webhooks: SENDING });
  await session.atomically(async (tx) => {
    await insertUser(tx, { name: 'Marie', role: 'admin', token: MARIE });
    await putRecords(tx, 'clients', [{ id: '17', _raw: '{"id":17}' }]);
    const plan = { kind: 'clients', origin: 'clients.csv', createdBy: 'Ada', createdAt: NOON_TEXT };
    const cells = '[{"field":"name","old":null,"new":"Zénobie"}]';
    const row = { position: 2, operation: 'update', recordId: '17', cells, refusal: null } as const;
    await insertPlan(tx, plan, [row]);
    const applied = { state: 'applied', appliedAt: NOON_TEXT, appliedBy: 'Marie' } as const;
    await decidePlan(tx, await insertPlan(tx, plan, []), applied);
  });
  const create = { operation: 'create', kind: 'clients', data: { code: 'C-1', name: 'Zénobie' } };
  await stage.post('/v1/outbox', create, { 'idempotency-key': 'one' });
  const env = { DATABASE_URL: url, BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]' };
  return { session, stage, env, cookie: await signIn(stage, MARIE), durable: () => durable };
}

/** Makes everything possible again that a decision may have ended. */
async function prepare({ session, stage }: Scene): Promise<void> {
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  await session.atomically(async (tx) => {
    await tx.query(sql`update outbox set state = 'parked', owner = null where id = 1`);
    await tx.query(sql`update plans set state = 'open', approved_at = null, approved_by = null where id = 1`);
    await tx.query(sql`delete from links`);
    await tx.query(sql`delete from outbox where idempotency_key like 'plan:%'`);
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
  const [template, argv] = one;
  const input = numbered(template, n) as Record<string, unknown>;
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
    const { code, stderr } = await run(String(numbered(argv, n)).split(' '), env);
    expect([path, code, stderr]).toEqual([path, path.endsWith('/test') ? 1 : 0, '']); // Nothing takes the test event.
  };
  return {
    api,
    ...(operation.notice !== undefined && { page }),
    ...(argv !== null && { command }),
  };
}

describe.each(Object.entries(GROWN_URLS).slice(0, 1))('the trail of a mirror in %s', (_name, address) => {
  test('has one row for each decision, by every door, with who made it', async () => {
    const here = await scene(await address());
    expect(Object.keys(CASES).toSorted()).toEqual(OPERATIONS.map(({ path }) => path).toSorted());
    for (const [path, [, , decision]] of Object.entries(CASES))
      for (const door of ['api', 'page', 'command'] as const) {
        made++;
        const act = doorsTo(here, path, made)[door];
        if (act === undefined) continue;
        await prepare(here);
        const [before] = await listDecisions(here.session, 1);
        const durable = here.durable();
        await act();
        if (door !== 'command') expect([path, here.durable() - durable]).toEqual([path, 1]);
        const rows = await listDecisions(here.session, 9);
        const added = rows.filter(({ id }) => id > (before?.id ?? 0)).map(wordsOf);
        const [what, target, detail] = String(numbered(decision, made)).split('|');
        const who = door === 'command' ? AT_COMMAND_LINE : 'Marie';
        const expected = {
          who,
          role: 'admin',
          via: door,
          what,
          target: target || null,
          detail: detail || null,
        };
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
