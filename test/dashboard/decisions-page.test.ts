import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { saveDecision } from '../../src/store/users/decision-store.ts';
import { insertUser, USER_ROLES } from '../../src/store/users/user-store.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import { serveMirror, type Stage } from '../http/stage.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { NOON, putRecords } from '../store/temp-mirror.ts';

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
