import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Row, Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { rowsOf, sandbox } from './support.ts';
import {
  ALL,
  DATABASES,
  MIRRORS,
  absencesOf,
  backfillFrom,
  instantAt,
  pullOne,
  shortEvents,
} from './steps.ts';

const kind = 'clients';
const NO_GRACE = { deletions: { graceSeconds: 0, holdAbove: { rows: 5, share: 0.02 } } };

async function truthfulRows({ world }: Sandbox, session: Session, name: string = kind): Promise<void> {
  const live = (await rowsOf(session, name)).filter((row) => row['_deleted_at'] === null);
  expect(live.map((row) => String(row['id']))).toEqual(
    [...world.ids(name)].sort((a, b) => a - b).map(String),
  );
}

async function touch(session: Session, statement: ReturnType<typeof sql>): Promise<void> {
  await session.atomically((tx) => tx.query(statement));
}

/** Inserts a copy of a row under another id: as alike to ours as a hand can make it. */
async function copyRow(session: Session, from: number, to: number, name = kind): Promise<void> {
  const rows = await rowsOf(session, name);
  const row = rows.find(({ id }) => id === String(from)) ?? {};
  const columns = Object.keys(row).filter((column) => !/_(real|e4)$/.test(column));
  await session.atomically((tx) =>
    tx.putRows({
      table: name,
      columns,
      rows: [columns.map((column) => (column === 'id' ? String(to) : (row[column] ?? null)))],
    }),
  );
}

async function repairsOf(session: Session, only = 'open'): Promise<Row[]> {
  const rows = await session.query(sql`
    select kind, record_id, detail, closed_at from issues where code = 'mirror_touched' order by record_id, id`);
  return only === 'open' ? rows.filter((row) => row['closed_at'] === null) : rows;
}

const contactsOf = (session: Session): Promise<Row[]> =>
  session.query(sql`select * from clients_contacts order by parent_id, position`);

const withContacts = ({ world }: Sandbox): number[] =>
  world.ids(kind).filter((id) => JSON.stringify(world.get(kind, id)?.['contacts'] ?? []).includes('nom'));

const rowOf = async (session: Session, id: number): Promise<Row> =>
  (await rowsOf(session, kind)).find((row) => row['id'] === String(id)) ?? {};

/** A mirror that knows three pages of clients, pulled twice. */
async function pulled(database: (typeof DATABASES)[number] = 'SQLite') {
  const service = await sandbox({ size: 260 });
  const session = await MIRRORS[database]();
  for (const minute of [0, 10]) await pullOne(service, session, { kind, minute });
  return { service, session, ids: service.world.ids(kind) };
}

describe.each(DATABASES)('%s', (database) => {
  test('a row that was taken out comes back with the next pull, as it was, without an event', async () => {
    const { service, session, ids } = await pulled(database);
    const id = ids[150] ?? 0;
    const before = await rowOf(session, id);
    await touch(session, sql`delete from clients where id = ${id}`);

    const report = await pullOne(service, session, { kind, minute: 20 });

    expect(report).toMatchObject({ state: 'certified', created: 0, updated: 0, restored: 0, unchanged: 260 });
    const after = await rowOf(session, id);
    expect({ ...after, _response: 0, _listed: 0 }).toEqual({ ...before, _response: 0, _listed: 0 });
    expect(await shortEvents(session)).toEqual([]);
    expect(await repairsOf(session)).toMatchObject([
      { kind, record_id: String(id), detail: 'its row was missing' },
    ]);
    await truthfulRows(service, session);

    expect(await pullOne(service, session, { kind, minute: 30 })).toMatchObject({
      state: 'certified',
      requests: 4,
    });
    expect(await repairsOf(session)).toEqual([]);
    expect(await repairsOf(session, 'all')).toMatchObject([{ closed_at: instantAt(30) }]);
  });

  test('columns that were changed are mended by a backfill, which says so, and only then', async () => {
    const { service, session, ids } = await pulled(database);
    const [a = 0, b = 0, c = 0] = ids.slice(40);
    await touch(session, sql`update clients set name = 'Autre', credit = '0.01' where id = ${a}`);
    await touch(session, sql`update clients set creation_date = null, contacts = '[]' where id = ${b}`);
    const before = await rowOf(session, c);

    const extent = { ids: [a, b, c].map(String) };
    const report = await backfillFrom(service, session, { kind, extent, minute: 20 });

    expect(report).toMatchObject({ rows: 3, mended: 2, unchanged: 1, updated: 0, created: 0, restored: 0 });
    expect(await rowOf(session, a)).toMatchObject({
      _changed_at: instantAt(0),
      name: expect.not.stringMatching('Autre') as string,
    });
    expect({ ...(await rowOf(session, c)), _response: 0 }).toEqual({ ...before, _response: 0 });
    const repairs = new Map((await repairsOf(session)).map((row) => [row['record_id'], row['detail']]));
    expect(repairs).toEqual(
      new Map([
        [String(a), expect.stringMatching(/^columns changed: (name, credit|credit, name)$/)],
        [String(b), expect.stringContaining('creation_date')],
      ]),
    );
    expect(await shortEvents(session)).toEqual([]);
    const again = await backfillFrom(service, session, {
      kind,
      minute: 30,
      extent: { pages: { from: 1, to: Infinity } },
    });
    expect(again).toMatchObject({ rows: 260, mended: 0, unchanged: 260 });
  });

  test('elements that were added, taken away, changed or left without a row are put right by a backfill', async () => {
    const { service, session } = await pulled(database);
    const [extra = 0, robbed = 0, changed = 0, taken = 0] = withContacts(service);
    const before = await contactsOf(session);
    await touch(
      session,
      sql`
      insert into clients_contacts (parent_id, position, nom) values (${extra}, 7, 'Invented'), (987654321, 0, 'Nobody')`,
    );
    await touch(session, sql`delete from clients_contacts where parent_id = ${robbed} and position = 0`);
    await touch(
      session,
      sql`update clients_contacts set nom = 'Autre' where parent_id = ${changed} and position = 0`,
    );
    await touch(session, sql`delete from clients where id = ${taken}`);
    await pullOne(service, session, { kind, minute: 20 });
    expect((await repairsOf(session)).map((row) => row['detail'])).toEqual(['its row was missing']);

    const report = await backfillFrom(service, session, { kind, minute: 30, extent: ALL });

    expect(report).toMatchObject({ mended: 3, created: 0, updated: 0 });
    expect(await contactsOf(session)).toEqual(before);
    const repairs = (await repairsOf(session)).filter((row) => row['record_id'] !== String(taken));
    expect(repairs.map((row) => row['detail'])).toEqual(Array(3).fill('elements changed: contacts'));
    expect(await shortEvents(session)).toEqual([]);
  });
});

describe('a touched mirror', () => {
  test('what the service changed in a record whose row was taken out is an event where its content is known', async () => {
    const { service, session, ids } = await pulled();
    const [id = 0, other = 0] = ids.slice(150);
    service.world.update(kind, id, { city: 'Matane' });
    await pullOne(service, session, { kind, minute: 20 });
    await touch(session, sql`delete from clients where id in (${id}, ${other})`);
    service.world.update(kind, id, { city: 'Rimouski' });

    expect(await pullOne(service, session, { kind, minute: 30 })).toMatchObject({
      state: 'certified',
      updated: 1,
    });

    expect(await shortEvents(session)).toEqual([`${id} updated`, `${id} updated`]);
    expect(await rowOf(session, id)).toMatchObject({ city: 'Rimouski', _first_seen_at: instantAt(0) });
    await truthfulRows(service, session);
  });

  test('a record that is new is still created, and one that was deleted and is there again restored', async () => {
    const { service, session, ids } = await pulled();
    const gone = ids[3] ?? 0;
    const record = service.world.get(kind, gone) ?? {};
    service.world.remove(kind, gone);
    await pullOne(service, session, { kind, minute: 20, rules: NO_GRACE });
    await touch(session, sql`delete from clients where id = ${gone}`);
    service.world.insert(kind, record);
    const fresh = Number(service.world.insert(kind, { code: 'ZZZ' })['id']);

    const report = await pullOne(service, session, { kind, minute: 30 });

    expect(report).toMatchObject({ state: 'certified', created: 1, restored: 1 });
    expect((await shortEvents(session)).sort()).toEqual(
      [`${gone} deleted`, `${gone} restored`, `${fresh} created`].sort(),
    );
    expect(await repairsOf(session)).toEqual([]);
    await truthfulRows(service, session);
  });

  test('a tombstone without a deletion behind it is taken away, on known pages too', async () => {
    const { service, session, ids } = await pulled();
    const id = ids[150] ?? 0;
    const before = await rowOf(session, id);
    await touch(session, sql`update clients set _deleted_at = '2026-01-01 00:00:00.000' where id = ${id}`);

    expect(await pullOne(service, session, { kind, minute: 20 })).toMatchObject({
      state: 'certified',
      restored: 0,
    });

    expect({ ...(await rowOf(session, id)), _response: 0 }).toEqual({ ...before, _response: 0 });
    expect(await shortEvents(session)).toEqual([]);
    expect(await repairsOf(session)).toMatchObject([{ detail: 'its row was marked as deleted' }]);
  });

  test('a record that was marked by hand and then really goes is proven to be gone, with its event', async () => {
    const { service, session, ids } = await pulled();
    const id = ids[150] ?? 0;
    await touch(session, sql`update clients set _deleted_at = '2026-03-01 12:15:00.000' where id = ${id}`);
    service.world.remove(kind, id);

    expect(await pullOne(service, session, { kind, minute: 20 })).toMatchObject({
      deleted: 0,
      state: 'complete',
    });
    expect(await absencesOf(session)).toEqual([`${id} suspected`]);
    expect(await pullOne(service, session, { kind, minute: 40 })).toMatchObject({
      deleted: 1,
      state: 'certified',
    });
    expect(await shortEvents(session)).toEqual([`${id} deleted`]);
  });

  test('a proven tombstone that was taken away is set again, as of its deletion', async () => {
    const { service, session, ids } = await pulled();
    const id = ids[3] ?? 0;
    service.world.remove(kind, id);
    await pullOne(service, session, { kind, minute: 20, rules: NO_GRACE });
    await touch(session, sql`update clients set _deleted_at = null where id = ${id}`);

    const report = await pullOne(service, session, { kind, minute: 30 });

    expect(report).toMatchObject({ state: 'certified', deleted: 0 });
    expect(await rowOf(session, id)).toMatchObject({ _deleted_at: instantAt(20) });
    expect(await shortEvents(session)).toEqual([`${id} deleted`]);
    expect(await repairsOf(session)).toMatchObject([{ detail: 'its tombstone was taken away' }]);
    service.world.insert(kind, { id, code: 'BACK' });
    expect(await pullOne(service, session, { kind, minute: 40 })).toMatchObject({ restored: 1 });
  });

  test('a row that was inserted is marked as deleted at once, never asked for or held; its id may come for real', async () => {
    const { service, session, ids } = await pulled();
    const invented = Array.from({ length: 30 }, (_, index) => 5_000_001 + index);
    for (const id of invented) await copyRow(session, ids[7] ?? 0, id);

    const report = await pullOne(service, session, { kind, minute: 20 });

    expect(report).toMatchObject({ state: 'certified', deleted: 0, requests: 4 });
    expect(await absencesOf(session)).toEqual([]);
    expect(await shortEvents(session)).toEqual([]);
    expect(await repairsOf(session)).toHaveLength(30);
    await truthfulRows(service, session);
    service.world.insert(kind, { id: 5_000_001, code: 'REAL' });
    expect(await pullOne(service, session, { kind, minute: 30 })).toMatchObject({ created: 1, restored: 0 });
    expect(await shortEvents(session)).toEqual(['5000001 created']);
  });

  test('a row that we landed goes the proven way, however long ago a list showed it', async () => {
    const { service, session, ids } = await pulled();
    const id = ids[150] ?? 0;
    service.world.remove(kind, id);
    const many = { deletions: { graceSeconds: 1e9, holdAbove: { rows: 5, share: 0.02 } } };
    for (let minute = 20; minute <= 80; minute += 10)
      await pullOne(service, session, { kind, minute, rules: many });
    await touch(session, sql`delete from deletions`); // Nothing but our own note tells it from an inserted one.

    expect(await pullOne(service, session, { kind, minute: 90 })).toMatchObject({
      state: 'complete',
      deleted: 0,
    });
    expect(await absencesOf(session)).toEqual([`${id} suspected`]);
    expect(await repairsOf(session, 'all')).toEqual([]);
    expect(await pullOne(service, session, { kind, minute: 110 })).toMatchObject({ deleted: 1 });
    expect(await session.query(sql`select * from unlisted_rows`)).toEqual([]);
  });

  test('a record that was only ever asked for, before the baseline, is no inserted row', async () => {
    const service = await sandbox({ size: 60 });
    const session = await MIRRORS.SQLite();
    const [id = 0] = service.world.ids(kind);
    await backfillFrom(service, session, { kind, extent: { ids: [String(id)] } });
    service.world.remove(kind, id);

    await pullOne(service, session, { kind, minute: 10 });

    expect(await absencesOf(session)).toEqual([`${id} suspected`]);
    expect(await repairsOf(session, 'all')).toEqual([]);
  });

  test('a row whose content is no record any more is written anew, without an event', async () => {
    const { service, session, ids } = await pulled();
    const id = ids[40] ?? 0;
    await touch(session, sql`update clients set _raw = '{"id":' where id = ${id}`);
    const report = await backfillFrom(service, session, { kind, extent: { ids: [String(id)] }, minute: 20 });
    expect(report).toMatchObject({ mended: 1, updated: 0 });
    expect(await shortEvents(session)).toEqual([]);
  });
});
