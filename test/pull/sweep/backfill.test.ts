import { sql } from 'drizzle-orm';
import { claimKind } from '../../../src/store/kinds/kind-lease.ts';
import { describe, expect, test } from 'vitest';
import { LeaseError, OtherSourceError } from '../../../src/db/session/errors.ts';
import type { Progress } from '../../../src/pull/parts.ts';
import { contentOf, mirror, rewriting, rowsOf, sandbox, truthOf } from '../support.ts';
import {
  ALL,
  ONE_DATABASE,
  MIRRORS,
  backfillFrom,
  eventsOf,
  kindState,
  newRequests,
  pullOne,
  shortEvents,
} from '../steps.ts';

const kind = 'clients';

describe.each(ONE_DATABASE)('%s', (database) => {
  test('records by their ids: those that are there land, the others are named and nothing is concluded', async () => {
    const service = await sandbox();
    const session = await MIRRORS[database]();
    await pullOne(service, session, { kind });
    const [a = 0, b = 0, gone = 0, c = 0] = service.world.ids(kind);
    service.world.update(kind, a, { city: 'Matane' });
    service.world.remove(kind, gone);
    const fresh = Number(service.world.insert(kind, { code: 'N' })['id']);
    const asked = newRequests(service);
    const before = await kindState(session, kind);

    const ids = [a, b, gone, fresh].map(String);
    const report = await backfillFrom(service, session, { kind, extent: { ids }, minute: 10 });

    expect(report).toMatchObject({
      kind,
      state: 'complete',
      reason: null,
      rows: 3,
      created: 1,
      updated: 1,
      unchanged: 1,
      missing: [String(gone)],
      requests: 4,
    });
    expect(asked().sort()).toEqual(ids.map((id) => `/api/clients/${id}`).sort());
    expect((await shortEvents(session)).sort()).toEqual([`${a} updated`, `${fresh} created`].sort());
    expect(await kindState(session, kind)).toEqual(before);
    const rows = await rowsOf(session, kind);
    expect(rows.filter((row) => row['_deleted_at'] !== null)).toEqual([]);
    expect(rows.find((row) => row['id'] === String(fresh))).toMatchObject({ _listed: null });
    expect(rows.find((row) => row['id'] === String(c))).toBeDefined();
    expect(await session.query(sql`select * from deletions`)).toEqual([]);
  });

  test('the indexes that reports use are created after it, also for a kind without a list', async () => {
    const service = await sandbox();
    const session = await MIRRORS[database]();
    await pullOne(service, session, { kind });
    await session.atomically((tx) => tx.execute('drop index clients__changed_at_index'));
    const [id = 0] = service.world.ids(kind);
    await backfillFrom(service, session, { kind, extent: { ids: [String(id)] }, minute: 10 });
    const lines = service.world.ids('sales_products').slice(0, 2).map(String);
    await backfillFrom(service, session, { kind: 'sales_products', extent: { ids: lines }, minute: 20 });

    const indexes =
      database === 'SQLite'
        ? sql`select name from sqlite_schema`
        : sql`select indexname as name from pg_indexes`;
    const names = (await session.query(indexes)).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['clients__changed_at_index', 'sales_products_product_id_index']),
    );
  });

  test('a whole list, every page parsed, although none has changed', async () => {
    const service = await sandbox({ size: 260 });
    const session = await MIRRORS[database]();
    await pullOne(service, session, { kind });
    const before = await kindState(session, kind);
    await session.atomically((tx) =>
      tx.query(
        sql`update clients set city = 'forged', _raw = '{"id":1}' where id = (select min(id) from clients)`,
      ),
    );

    const report = await backfillFrom(service, session, { kind, extent: ALL, minute: 10 });

    expect(report).toMatchObject({ state: 'complete', rows: 260, updated: 1, unchanged: 259 });
    expect((await contentOf(session))[kind]).toEqual(truthOf(service)[kind]);
    expect(await kindState(session, kind)).toEqual(before);
    const points = await session.query(
      sql`select count(*) as n from sightings where sweep is null and end_rows is not null`,
    );
    expect(points).toEqual([{ n: 0 }]);
  });
});

test('punches are looked for in their list, up to the last that is wanted', async () => {
  const service = await sandbox();
  const session = await mirror();
  const [a = 0, b = 0] = service.world.ids('punches');
  const asked = newRequests(service);

  const report = await backfillFrom(service, session, {
    kind: 'punches',
    extent: { ids: [a, b].map(String) },
  });
  expect(report).toMatchObject({ state: 'complete', rows: 2, created: 2, missing: [], requests: 1 });
  expect(asked()).toEqual(['/api/punch']);
  expect(await rowsOf(session, 'punches')).toHaveLength(2);

  const missing = await backfillFrom(service, session, {
    kind: 'punches',
    extent: { ids: [String(a), '1', '2'] },
  });
  expect(missing).toMatchObject({ state: 'complete', rows: 1, unchanged: 1, missing: ['1', '2'] });
  expect(await eventsOf(session)).toEqual([]);
});

test('however many are missing, they are named', async () => {
  const service = await sandbox();
  const session = await mirror();
  const ids = Array.from({ length: 300_000 }, (_, index) => String(index + 1));
  const report = await backfillFrom(service, session, { kind: 'punches', extent: { ids } });
  expect(report.missing).toHaveLength(300_000);
});

const SALES_VIEWS = {
  SQLite: sql`select name from sqlite_schema where type = 'view' and name like 'bi_sales%' order by 1`,
  PostgreSQL: sql`
    select table_name as name from information_schema.views where table_name like 'bi_sales%' order by 1`,
};

test.each(ONE_DATABASE)('sales products are read one by one on %s, as no list has them', async (database) => {
  const service = await sandbox();
  const session = await MIRRORS[database]();
  const [a = 0, b = 0] = service.world.ids('sales_products');
  const ids = [String(a), '1', String(b)];
  const views = SALES_VIEWS[database];
  expect(await session.query(views)).toEqual([]);
  const report = await backfillFrom(service, session, { kind: 'sales_products', extent: { ids } });
  expect(await session.query(views)).toEqual(
    ['bi_sales_products', 'bi_sales_products_history'].map((name) => ({ name })),
  );
  expect(report).toMatchObject({ state: 'complete', rows: 2, created: 2, missing: ['1'] });
  expect(await rowsOf(session, 'sales_products')).toHaveLength(2);
});

test('some pages only', async () => {
  const service = await sandbox({ size: 430 });
  const session = await mirror();
  const asked = newRequests(service);
  const progress: Progress[] = [];
  const onProgress = (one: Progress): number => progress.push(one);
  const report = await backfillFrom(service, session, {
    kind,
    extent: { pages: { from: 2, to: 3 } },
    parts: { onProgress },
  });
  expect(report).toMatchObject({ state: 'complete', pages: 2, rows: 200, created: 200 });
  expect(asked().sort()).toEqual([2, 3].map((page) => `/api/clients?page=${page}&per_page=100`));
  expect(progress.at(-1)).toEqual({ kind, pages: 3, lastPage: 5 });

  const beyond = await backfillFrom(service, session, { kind, extent: { pages: { from: 9, to: 12 } } });
  expect(beyond).toMatchObject({ state: 'complete', rows: 0 });
});

test('a kind that somebody else sweeps is busy, and nothing is asked for', async () => {
  const service = await sandbox();
  const session = await mirror();
  await claimKind(session, 'clients', 'another-host:1:x');
  const asked = newRequests(service);
  await expect(backfillFrom(service, session, { kind, extent: ALL })).rejects.toThrow(LeaseError);
  expect(asked()).toEqual([]);
});

test.each([
  ['clients', { ids: true }],
  ['departments', { ids: true }],
  ['clients', ALL],
  ['departments', ALL],
] as const)(
  "of %s, %j: another company's token lands nothing and leaves the kind as it was",
  async (name, extent) => {
    const ours = await sandbox({ size: 15, systemId: 7 });
    const theirs = await sandbox({ size: 15, systemId: 8 });
    const session = await mirror();
    for (const pulled of ['departments', 'clients']) await pullOne(ours, session, { kind: pulled });
    const before = await kindState(session, name);
    const ids = theirs.world.ids(name).slice(0, 3).map(String);

    const filling = backfillFrom(theirs, session, {
      kind: name,
      baseUrl: ours.url,
      extent: 'ids' in extent ? { ids } : extent,
      minute: 1,
    });

    await expect(filling).rejects.toThrow(OtherSourceError);
    expect((await contentOf(session))[name]).toEqual(truthOf(ours)[name]);
    expect(await kindState(session, name)).toEqual(before);
  },
);

describe('a record by its path has other fields than in its list', () => {
  /** Lists leave out `website`, and show `mood`, which single records lack; records have `detail`. */
  async function otherwise() {
    const honest = await sandbox();
    const service = await rewriting(honest, (body, path) => {
      const isOne = /clients\/\d+$/.test(path);
      return isOne
        ? body.replace(/^\{/, '{"detail":"long",')
        : body.replaceAll(/,"website":(?:"[^"]*"|null)/g, ',"mood":"sunny"');
    });
    return { honest, service, session: await mirror(), id: honest.world.ids(kind)[3] ?? 0 };
  }

  test('list, record, list: no event', async () => {
    const { service, session, id, honest } = await otherwise();
    const step = { kind, baseUrl: service.url };
    await pullOne(service, session, step);
    const report = await backfillFrom(service, session, {
      ...step,
      extent: { ids: [String(id)] },
      minute: 10,
    });
    expect(report).toMatchObject({ rows: 1, unchanged: 1, updated: 0 });
    expect(await pullOne(service, session, { ...step, minute: 20 })).toMatchObject({
      updated: 0,
      unchanged: 60,
    });
    expect(await eventsOf(session)).toEqual([]);

    honest.world.update(kind, id, { city: 'Matane' });
    await backfillFrom(service, session, { ...step, extent: { ids: [String(id)] }, minute: 30 });
    await pullOne(service, session, { ...step, minute: 40 });
    expect(
      (await eventsOf(session)).map(({ fields }) => Object.keys(JSON.parse(String(fields)) as object)),
    ).toEqual([['city']]);
  });

  test('record first, then list: created once, and no event of fields that one of them lacks', async () => {
    const { service, session, honest } = await otherwise();
    const step = { kind, baseUrl: service.url };
    await pullOne(service, session, step);
    const id = Number(honest.world.insert(kind, { code: 'N' })['id']);
    await backfillFrom(service, session, { ...step, extent: { ids: [String(id)] }, minute: 10 });
    for (const minute of [20, 30]) await pullOne(service, session, { ...step, minute });

    expect(await shortEvents(session)).toEqual([`${id} created`]);
    const row = (await rowsOf(session, kind)).find((one) => one['id'] === String(id));
    expect(JSON.parse(String(row?.['_raw']))).toHaveProperty('mood');
  });
});
