import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Row, Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { liveIds, rowsOf, sandbox } from './support.ts';
import {
  ALL,
  ONE_DATABASE,
  type DATABASES,
  MIRRORS,
  absencesOf,
  backfillFrom,
  instantAt,
  pullOne,
  shortEvents,
} from './steps.ts';

const kind = 'clients';
const NO_GRACE = { deletions: { graceSeconds: 0, holdAbove: { rows: 5, share: 0.02 } } };
const DIFFER = {
  state: 'complete',
  reason: 'rows_differ',
  certifiedAt: expect.any(String) as string,
  detail: expect.stringContaining('bms-sync backfill clients --all') as string,
};

/** A mirror that knows three pages of clients, pulled twice, and whose rows a bug or a failing disk then changes. */
async function damaged(
  database: (typeof DATABASES)[number],
  ...damage: ((ids: readonly number[]) => ReturnType<typeof sql>)[]
) {
  const service = await sandbox({ size: 260 });
  const session = await MIRRORS[database]();
  for (const minute of [0, 10]) await pullOne(service, session, { kind, minute });
  const ids = service.world.ids(kind);
  for (const statement of damage) await write(session, statement(ids));
  return { service, session, ids };
}

const write = (session: Session, statement: ReturnType<typeof sql>): Promise<unknown> =>
  session.atomically((tx) => tx.query(statement));

/** Inserts a copy of a row under another id. */
async function copyRow(session: Session, from: number, to: number): Promise<void> {
  const row = (await rowsOf(session, kind)).find(({ id }) => id === String(from)) ?? {};
  const columns = Object.keys(row).filter((column) => !/_(real|e4)$/.test(column));
  const values = columns.map((column) => (column === 'id' ? String(to) : (row[column] ?? null)));
  await session.atomically((tx) => tx.upsertRows({ table: kind, columns, rows: [values] }));
}

async function expectAsListed({ world }: Sandbox, session: Session): Promise<void> {
  expect(await liveIds(session, kind)).toEqual([...world.ids(kind)].sort((a, b) => a - b).map(String));
}

const contactsOf = (session: Session): Promise<Row[]> =>
  session.query(sql`select * from clients_contacts order by parent_id, position`);

const rowOf = async (session: Session, id: number): Promise<Row> =>
  (await rowsOf(session, kind)).find((row) => row['id'] === String(id)) ?? {};

describe.each(ONE_DATABASE)(
  'in %s, rows that are not the list’s are never certified, and a backfill puts them right',
  (database) => {
    test('a row that is missing', async () => {
      const { service, session, ids } = await damaged(database);
      const before = await contactsOf(session);
      const missing = [ids[3], ids[150], ids[259]].map(Number);
      await write(session, sql`delete from clients where id in ${missing}`);

      for (const minute of [20, 30])
        expect(await pullOne(service, session, { kind, minute })).toMatchObject(DIFFER);

      const report = await backfillFrom(service, session, { kind, extent: ALL, minute: 40 });
      expect(report).toMatchObject({ state: 'complete', created: 3, surplus: 0 });
      expect(await pullOne(service, session, { kind, minute: 50 })).toMatchObject({
        state: 'certified',
        created: 0,
      });
      await expectAsListed(service, session);
      expect(await contactsOf(session)).toEqual(before);
    });

    test('a row that is marked as deleted', async () => {
      const marked = sql`update clients set _deleted_at = '2026-01-01 00:00:00.000'`;
      const { service, session } = await damaged(database, (ids) => sql`${marked} where id = ${ids[150]}`);

      expect(await pullOne(service, session, { kind, minute: 20 })).toMatchObject(DIFFER);

      expect(await backfillFrom(service, session, { kind, extent: ALL, minute: 30 })).toMatchObject({
        restored: 1,
      });
      expect(await pullOne(service, session, { kind, minute: 40 })).toMatchObject({ state: 'certified' });
      await expectAsListed(service, session);
    });

    test('rows that no list has shown: they are not asked for, held or told as deletions', async () => {
      const { service, session, ids } = await damaged(database);
      for (let id = 5_000_001; id <= 5_000_030; id++) await copyRow(session, ids[7] ?? 0, id);

      for (const minute of [20, 30])
        expect(await pullOne(service, session, { kind, minute })).toMatchObject(DIFFER);

      expect(await absencesOf(session)).toEqual([]);
      expect(await backfillFrom(service, session, { kind, extent: ALL, minute: 40 })).toMatchObject({
        surplus: 30,
      });
      expect(await pullOne(service, session, { kind, minute: 50 })).toMatchObject({
        state: 'certified',
        deleted: 0,
      });
      expect(await shortEvents(session)).toEqual([]);
      await expectAsListed(service, session);
    });

    test('a deleted record whose row is live again', async () => {
      const { service, session, ids } = await damaged(database);
      const id = ids[3] ?? 0;
      service.world.remove(kind, id);
      await pullOne(service, session, { kind, minute: 20, rules: NO_GRACE });
      await write(session, sql`update clients set _deleted_at = null where id = ${id}`);

      expect(await pullOne(service, session, { kind, minute: 30 })).toMatchObject(DIFFER);

      expect(await backfillFrom(service, session, { kind, extent: ALL, minute: 40 })).toMatchObject({
        surplus: 1,
      });
      expect(await pullOne(service, session, { kind, minute: 50 })).toMatchObject({
        state: 'certified',
        deleted: 0,
      });
      expect(await shortEvents(session)).toEqual([`${id} deleted`]);
    });

    test('columns, elements and contents: without an event, and with no other row touched', async () => {
      const { service, session, ids } = await damaged(database);
      const [a = 0, b = 0, c = 0, broken = 0] = ids.slice(40);
      const before = await rowsOf(session, kind);
      const contacts = await contactsOf(session);
      const [parent] = contacts.map((row) => row['parent_id']);
      await write(session, sql`update clients set name = 'Autre', credit = '0.01' where id = ${a}`);
      await write(session, sql`update clients set creation_date = null, contacts = '[]' where id = ${b}`);
      await write(session, sql`update clients_contacts set nom = 'Autre' where parent_id = ${parent}`);
      await write(
        session,
        sql`insert into clients_contacts (parent_id, position, nom) values (${parent}, 7, 'Invented')`,
      );
      const unharmed = await rowOf(session, c);

      const some = { ids: [a, b, c].map(String) };
      expect(await backfillFrom(service, session, { kind, extent: some, minute: 20 })).toMatchObject({
        unchanged: 3,
      });
      expect(await rowOf(session, a)).toMatchObject({
        _changed_at: instantAt(0),
        name: expect.not.stringMatching('Autre') as string,
      });
      expect({ ...(await rowOf(session, c)), _response: 0 }).toEqual({ ...unharmed, _response: 0 });
      await write(session, sql`update clients set _raw = '{"id":' where id = ${broken}`);
      expect(await backfillFrom(service, session, { kind, extent: ALL, minute: 30 })).toMatchObject({
        rows: 260,
        unchanged: 260,
      });

      expect(await contactsOf(session)).toEqual(contacts);
      const steady = (rows: Row[]): Row[] =>
        rows.map((row) => ({
          ...row,
          _response: 0,
          ...(row['id'] === String(broken) && { _changed_at: '' }),
        }));
      expect(steady(await rowsOf(session, kind))).toEqual(steady(before));
      expect(await shortEvents(session)).toEqual([]);
    });
  },
);

describe('a row that we wrote is known as ours', () => {
  test('and goes the proven way, however long ago a list showed it', async () => {
    const { service, session, ids } = await damaged('SQLite');
    const id = ids[150] ?? 0;
    service.world.remove(kind, id);
    const many = { deletions: { graceSeconds: 1e9, holdAbove: { rows: 5, share: 0.02 } } };
    for (let minute = 20; minute <= 80; minute += 10)
      await pullOne(service, session, { kind, minute, rules: many });
    await write(session, sql`delete from deletions`); // Only our own note distinguishes it from an inserted one.

    expect(await pullOne(service, session, { kind, minute: 90 })).toMatchObject({
      state: 'complete',
      deleted: 0,
    });
    expect(await absencesOf(session)).toEqual([`${id} suspected`]);
    expect(await pullOne(service, session, { kind, minute: 110 })).toMatchObject({ deleted: 1 });
    expect(await session.query(sql`select * from unlisted_rows`)).toEqual([]);
  });

  test('where it was only ever asked for, before the baseline', async () => {
    const service = await sandbox({ size: 60 });
    const session = await MIRRORS.SQLite();
    const [id = 0] = service.world.ids(kind);
    await backfillFrom(service, session, { kind, extent: { ids: [String(id)] } });
    service.world.remove(kind, id);

    await pullOne(service, session, { kind, minute: 10 });

    expect(await absencesOf(session)).toEqual([`${id} suspected`]);
  });
});
