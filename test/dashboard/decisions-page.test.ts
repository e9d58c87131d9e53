import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { saveDecision } from '../../src/store/users/decision-store.ts';
import { insertUser, USER_ROLES } from '../../src/store/users/user-store.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import { serveMirror, type Stage } from '../http/stage.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { kindNamed, NOON, NOON_TEXT, putRecords, tempMirror } from '../store/temp-mirror.ts';
import { decidePlan, insertPlan } from '../../src/features/plans/store.ts';

const pageOf = async ({ get }: Stage, path: string, token?: string): Promise<string> =>
  (await get(path, token === undefined ? {} : { authorization: `Bearer ${token}` })).text();

describe.each(ONE_DATABASE)('the page of decisions of a mirror in %s', (_name, open) => {
  test('tells who has decided what by which door, the newest first, page by page', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    expect(await pageOf(stage, '/decisions')).toContain('None yet.');
    await session.atomically(async (tx) => {
      for (let n = 1; n <= 120; n++) {
        const via = (['command', 'page', 'api'] as const)[n % 3] ?? 'api';
        const about = { what: 'outbox retry', target: `<b>${n}`, detail: null };
        await saveDecision(tx, { who: 'Marie', role: 'operator', via, ...about }, NOON);
      }
    });
    const seen: number[] = [];
    for (let path: string | undefined = '/decisions'; path !== undefined;) {
      const page = await pageOf(stage, path);
      seen.push(...[...page.matchAll(/&lt;b&gt;(\d+)/g)].map(([, n]) => Number(n)));
      path = /rel="next"\s+href="([^"]+)"/.exec(page)?.[1];
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => 120 - index));
    const row = />Outbox · Retry<[^]*?<\/tr>/.exec(await pageOf(stage, '/decisions'))?.[0] ?? '';
    expect(row).toMatch(/120[^]*Marie[^]*operator[^]*the command line[^]*2026-03-01 12:00/);
  });
});

test('names the records, entries and plans of a decision, and words its details as sentences', async () => {
  const session = await tempMirror([kindNamed('clients')]);
  const stage = await serveMirror(session);
  const create = { operation: 'create', kind: 'clients', data: { code: 'C-9', name: 'Ada' } };
  await stage.post('/v1/outbox', create, { 'idempotency-key': 'one' });
  const by = { who: 'Marie', role: 'operator', via: 'page' } as const;
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [{ id: '17', _raw: '{"id":17,"name":"Zoé"}' }]);
    const plan = { kind: 'clients', origin: 'prices.csv', createdBy: 'Ada', createdAt: NOON_TEXT };
    const id = await insertPlan(tx, plan, []);
    await decidePlan(tx, id, {
      state: 'rejected',
      closedAt: NOON_TEXT,
      closedBy: 'Marie',
      reason: 'too <dear>',
    });
    for (const [what, target, detail] of [
      ['backfill', 'clients', 'ids 17,18'],
      ['outbox retry', '1', 'overwrite true; now true'],
      ['outbox abandon', '99', null],
      ['webhooks add', 'shop', 'kinds clients; changes created,deleted; format slack'],
      ['plans reject', String(id), null],
      ['pull', null, null],
      ['something new', 'x', 'member of a later version'],
    ] as const)
      await saveDecision(tx, { ...by, what, target, detail }, NOON);
  });
  const textOf = async (language: string): Promise<readonly string[]> => {
    const page = await (await stage.get('/decisions', { 'accept-language': language })).text();
    const rows = page.split('<tbody>')[1]?.split('</tr>') ?? [];
    const cells = rows.map((row) => /<td class="parts"[^]*?<\/td>/.exec(row)?.[0] ?? '');
    return cells.map((cell) =>
      cell
        .replaceAll(/<[^>]*>|\s+/g, ' ')
        .replaceAll(/ +/g, ' ')
        .trim(),
    );
  };
  expect(await textOf('en')).toEqual([
    expect.stringContaining('member of a later version'),
    expect.stringContaining('all kinds'),
    expect.stringMatching(
      /Plan 1 , clients.*prices\.csv : 0 updates, 0 creates, 0 refusals\. too &lt;dear&gt;/,
    ),
    expect.stringMatching(
      /shop.*events of these kinds: clients\. .*changes: created, deleted\. .*as slack\./,
    ),
    expect.stringMatching(/^99 /),
    expect.stringMatching(
      /1 create C-9 · Ada.*Replaces the values of the other user\. Does not wait any longer\./,
    ),
    expect.stringMatching(/clients.*Reads these records again: Zoé, 18\./),
    expect.stringMatching(/1 create C-9 · Ada.*1 entry was stored\./),
    '',
  ]);
  expect((await textOf('fr')).join()).toContain('Relit ces fiches : Zoé, 18.');
});

const PAGES = ['/', '/deletions', '/outbox/1', '/webhooks', '/kinds/clients', '/decisions'];

/** Something to decide on every page. */
async function somethingToDecide(session: Session, { post }: Stage): Promise<void> {
  const create = { operation: 'create', kind: 'clients', data: { code: 'C-1', name: 'Ada' } };
  await post('/v1/outbox', create, { 'idempotency-key': 'one' });
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  await session.atomically(async (tx) => {
    await tx.query(sql`update outbox set state = 'parked', verdict = 'twins', settlement = '{"ids":["17"]}'`);
    await putRecords(tx, 'clients', [{ id: '17', _raw: '{"id":17}' }]);
    await saveAbsences(tx, 'clients', [{ ...absence, id: '17', state: 'held' }]);
    await tx.insertRows({
      table: 'webhook_endpoints',
      columns: ['name', 'public_id', 'url', 'cursor', 'state', 'disabled_reason'],
      rows: [['shop', 'p1', 'https://example.com/', 0, 'disabled', 'gone']],
    });
    for (const role of USER_ROLES)
      await insertUser(tx, { name: `the ${role}`, role, token: `token-of-the-${role}` });
  });
}

describe.each(ONE_DATABASE)('the pages of a mirror in %s', (_name, open) => {
  test('have the decisions that a role may make, and no form that would be refused', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await somethingToDecide(session, stage);
    const formsFor = async (role: string): Promise<readonly (readonly string[])[]> => {
      const pages = await Promise.all(PAGES.map((path) => pageOf(stage, path, `token-of-the-${role}`)));
      return pages.map((page) =>
        [...page.matchAll(/(?<!class="language" )method="post"\s+action="([^"]+)"/g)].map(
          ([, to = '']) => to,
        ),
      );
    };
    expect(await formsFor('viewer')).toEqual(PAGES.map(() => []));
    expect(await pageOf(stage, '/', 'token-of-the-viewer')).toContain('Operators decide here');
    const [overview = [], deletions = [], entry = [], webhooks = [], kind = [], trail = []] =
      await formsFor('operator');
    expect(deletions).toEqual(['/deletions/clients/approve', '/deletions/clients/reject']);
    expect(entry.toSorted()).toEqual(
      ['abandon', 'adopt', 'adopt', 'retry'].map((name) => `/outbox/1/${name}`),
    );
    expect(webhooks).toEqual(['/webhooks/shop/enable', '/webhooks/shop/replay', '/webhooks/shop/test']);
    const backfills = ['/backfills', '/backfills', '/backfills']; // Some records, some pages, all.
    expect([kind, trail]).toEqual([['/pulls', ...backfills], []]);
    expect(overview).toEqual(expect.arrayContaining([...deletions, ...webhooks.slice(0, -1)]));
    const ofAdmin = await formsFor('admin');
    expect(ofAdmin[PAGES.indexOf('/webhooks')]).toEqual([...webhooks, '/webhooks']);
    expect(ofAdmin.map((forms) => forms.filter((to) => to !== '/webhooks'))).toEqual(
      await formsFor('operator'),
    );
    for (const to of new Set([...overview, ...entry, ...kind])) {
      const { status } = await stage.post(to, {}, { authorization: 'Bearer token-of-the-operator' });
      expect([to, status]).not.toEqual([to, 403]);
    }
  });
});
