import { sql } from 'drizzle-orm';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import type { Fault } from '../../../sandbox/faults.ts';
import { claimKind } from '../../../src/store/kinds/kind-lease.ts';
import { THIS_PROCESS } from '../../../src/lib/owner.ts';
import type { Session } from '../../../src/db/session/session.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { gate } from '../../store/temp-mirror.ts';
import { send, serve } from '../../support/serve.ts';
import { SOURCE_SETTINGS } from '../../support/source-settings.ts';
import { kindsNamed } from '../steps.ts';
import { Crash, contentOf, mirror, pullFrom, rewriting, rowsOf, sandbox, truthOf } from '../support.ts';

describe('a pull', () => {
  test.each(['documented', 'wild'] as const)(
    'holds what the service has, envelopes %s',
    async (envelopes) => {
      const service = await sandbox({ size: 110, envelopes });
      const session = await mirror();

      const report = await pullFrom(service, session);

      expect(await contentOf(session)).toEqual(truthOf(service));
      for (const kind of report.kinds) {
        const total = service.world.count(kind.kind);
        expect(kind).toMatchObject({
          state: 'certified',
          rows: total,
          created: total,
          updated: 0,
          unchanged: 0,
          quarantined: 0,
        });
      }
      expect(report.kinds.map(({ kind }) => kind)).toEqual(LISTED_KINDS.map(({ name }) => name));
    },
  );

  test('over unchanged data writes no row of a kind', async () => {
    const service = await sandbox();
    const session = await mirror();
    await pullFrom(service, session);
    const before = await Promise.all(LISTED_KINDS.map(({ name }) => rowsOf(session, name)));

    const report = await pullFrom(service, session);

    expect(await Promise.all(LISTED_KINDS.map(({ name }) => rowsOf(session, name)))).toEqual(before);
    for (const kind of report.kinds)
      expect(kind).toMatchObject({ created: 0, updated: 0, unchanged: kind.rows });
  });

  test('after one change writes that row alone', async () => {
    const service = await sandbox();
    const session = await mirror();
    await pullFrom(service, session);
    const before = await rowsOf(session, 'clients');
    const changed = service.world.ids('clients')[7] ?? 0;
    service.world.update('clients', changed, { city: 'Rimouski', credit: '-0.05' });

    const report = await pullFrom(service, session);

    const after = await rowsOf(session, 'clients');
    const written = after.filter((row, index) => row['_response'] !== before[index]?.['_response']);
    expect(written).toMatchObject([
      { id: String(changed), city: 'Rimouski', credit: '-0.05', credit_e4: -500 },
    ]);
    expect(report.kinds[1]).toMatchObject({ kind: 'clients', created: 0, updated: 1, unchanged: 59 });
  });

  test('C11: a bad value costs a null and an issue, a bad row itself; the issues close when the service mends them', async () => {
    const honest = await sandbox();
    const session = await mirror();
    const [first = 0, second = 0] = honest.world.ids('clients');
    honest.world.update('clients', first, { credit: '1,50', creation_date: '2025-02-30' });
    let written = '"007"';
    const service = await rewriting(honest, (body) => body.replaceAll(`"id":${second},`, `"id":${written},`));
    const open = sql`
      select record_id, field, code, detail from issues where closed_at is null and kind = 'clients' order by field`;

    const report = await pullFrom(service, session);

    expect(report.kinds[1]).toMatchObject({
      state: 'complete',
      reason: 'rows_unseen',
      rows: 59,
      quarantined: 1,
    });
    expect(await session.query(open)).toMatchObject([
      { record_id: '007', field: null, code: 'id_not_an_integer' },
      { record_id: String(first), field: 'creation_date', code: 'not_a_date', detail: '"2025-02-30"' },
      { record_id: String(first), field: 'credit', code: 'not_a_decimal', detail: '"1,50"' },
    ]);

    await pullFrom(service, session);
    expect(await session.query(open)).toHaveLength(3);

    honest.world.update('clients', first, { credit: '1.50', creation_date: '2025-02-28' });
    written = String(second);
    expect((await pullFrom(service, session)).kinds[1]).toMatchObject({
      created: 1,
      updated: 1,
      quarantined: 0,
    });
    expect(await session.query(open)).toEqual([]);
  });
});

/** The same service, whose answers about a list come when `isDue` resolves. */
async function delaying(service: Sandbox, isDue: (list: string) => Promise<void>): Promise<Sandbox> {
  const url = await serve((incoming, answer) => {
    const path = incoming.url ?? '';
    void isDue(path.replace(/\?.*/, '')).then(async () => {
      const headers = { authorization: `Bearer ${service.token}` };
      const { statusCode, body } = await request(service.url + path, { headers });
      send(answer, await body.text(), statusCode);
    });
  });
  return { ...service, url };
}

describe('kinds side by side', () => {
  test('as many are read at once as requests may be under way; each reports its own requests, in the order of kinds', async () => {
    const service = await sandbox();
    const { opened, open } = gate();
    const lists = new Set<string>();
    const slow = await delaying(service, (list) => {
      if (lists.add(list).size === SOURCE_SETTINGS.concurrency) open();
      return opened;
    });

    const { kinds } = await pullFrom(slow, await mirror());

    expect(kinds.map(({ kind }) => kind)).toEqual(LISTED_KINDS.map(({ name }) => name));
    expect(kinds.reduce((sum, kind) => sum + kind.requests, 0)).toBe(service.requests.length);
  });

  test('a fault of the whole mirror ends those that wait for the service', async () => {
    const service = await sandbox();
    const { opened, open } = gate();
    const silent = await delaying(service, async (list) => {
      if (list.endsWith('projects')) open();
      await (list.endsWith('projects') ? new Promise<never>(() => undefined) : opened);
    });
    const session = await mirror();
    const broken: Session = {
      ...session,
      atomically: (work) =>
        session.atomically((tx) =>
          work({
            ...tx,
            insertRows: (batch) =>
              batch.table === 'clients' ? Promise.reject(new Crash('disk')) : tx.insertRows(batch),
          }),
        ),
    };

    const pulling = pullFrom(silent, broken, { request: { kinds: kindsNamed('clients', 'projects') } });

    await expect(pulling).rejects.toThrow(new Crash('disk'));
    expect(await session.query(sql`select state, reason from runs`)).toEqual([
      { state: 'failed', reason: 'disk' },
    ]);
  });
});

/** One kind that is read before the clients, and one that is read after them. */
const BESIDE_CLIENTS = kindsNamed('projects', 'clients', 'departments');

describe('a fault of the service', () => {
  const failing: readonly [string, Fault['do'], string, string][] = [
    ['B02', { html: true }, 'invalid', 'html'],
    ['A06', { ignorePage: true }, 'invalid', 'page_ignored'],
    ['A22', { refuse: true }, 'aborted', 'forbidden'],
    ['A23', { status: 503 }, 'aborted', 'unavailable'],
    ['B01', { truncate: 300 }, 'aborted', 'unreachable'],
  ];

  test.each(failing)(
    '%s: %j ends one kind and no other, and nothing untrue lands',
    async (_, action, state, reason) => {
      const service = await sandbox({ size: 110 });
      const session = await mirror();
      service.setFaults([{ on: { kind: 'clients' }, do: action }]);

      const report = await pullFrom(service, session, { request: { kinds: BESIDE_CLIENTS } });

      const failed = report.kinds.find(({ kind }) => kind === 'clients');
      expect(failed).toMatchObject({ kind: 'clients', state, reason });
      expect(failed?.detail).toContain('/api/clients');
      const others = report.kinds.filter(({ kind }) => kind !== 'clients');
      expect(others.map((kind) => kind.state)).toEqual(['certified', 'certified']);
      const landed = (await contentOf(session))['clients'] ?? [];
      expect(truthOf(service)['clients']).toEqual(expect.arrayContaining(landed));

      service.setFaults([]);
      await pullFrom(service, session, { request: { kinds: BESIDE_CLIENTS } });
      const content = await contentOf(session);
      const truth = truthOf(service);
      for (const { name } of BESIDE_CLIENTS) expect(content[name]).toEqual(truth[name]);
    },
  );

  test('A23: what passes is repeated and counted', async () => {
    const service = await sandbox({ size: 110 });
    const session = await mirror();
    service.setFaults([
      { on: { kind: 'clients', page: 2 }, times: 2, do: { status: 500 } },
      { on: { kind: 'providers' }, times: 1, do: { status: 429, retryAfter: '7' } },
      { on: { kind: 'punches' }, times: 1, do: { drop: 'after' } },
    ]);

    const report = await pullFrom(service, session);

    const retries = Object.fromEntries(report.kinds.map((kind) => [kind.kind, kind.retries]));
    expect(retries).toMatchObject({ clients: 2, providers: 1, punches: 1, products: 0 });
    expect(await contentOf(session)).toEqual(truthOf(service));
  });
});

describe('two pulls', () => {
  test('A26: of one kind at once: the second finds it busy', async () => {
    const service = await sandbox();
    const session = await mirror();
    await claimKind(session, 'clients', 'another-host:1:x');

    const report = await pullFrom(service, session, { parts: { owner: THIS_PROCESS } });

    expect(report.kinds[1]).toMatchObject({ kind: 'clients', state: 'busy', reason: 'busy', rows: 0 });
    expect(report.kinds.filter(({ state }) => state === 'certified')).toHaveLength(LISTED_KINDS.length - 1);
    expect(await rowsOf(session, 'clients')).toEqual([]);
  });
});
