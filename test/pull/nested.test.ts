import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { MIRRORS } from './steps.ts';
import { pullFrom, sandbox } from './support.ts';

const pullOf = (service: Sandbox, session: Session, ...names: readonly string[]) =>
  pullFrom(service, session, {
    request: { kinds: LISTED_KINDS.filter(({ name }) => names.includes(name)) },
  });

const read = (session: Session, view: string, columns = '*'): Promise<Row[]> =>
  session.query(sql.raw(`select ${columns} from ${view} order by parent_id, position`));

const recordsOf = ({ world }: Sandbox, kind: string): JsonObject[] =>
  [...world.ids(kind)].sort((a, b) => a - b).map((id) => world.get(kind, id) ?? {});

/** The elements of an array of all records, with the place of each. */
function elementsOf(service: Sandbox, kind: string, array: string): (readonly [Json, number, JsonObject])[] {
  return recordsOf(service, kind).flatMap((record) => {
    const elements = record[array] ?? null;
    return (isArray(elements) ? elements : [])
      .filter(isObject)
      .map((element, position) => [record['id'] ?? null, position, element] as const);
  });
}

describe.each(Object.entries(MIRRORS))('%s', (_name, open) => {
  test('a first pull fills the nested tables of documented, hinted and unknown arrays, each typed', async () => {
    const service = await sandbox({ size: 30 });
    const session = await open();
    const [first = 0] = service.world.ids('vehicle_brands');
    service.world.update('vehicle_brands', first, {
      notes: [{ at: '2026-01-02', cost: '1.50', seen: null }, 'x', { cost: '2.25', more: { a: 1 } }],
    });
    await pullOf(service, session, 'clients', 'bookings', 'products', 'vehicle_brands');

    const items = elementsOf(service, 'bookings', 'items');
    expect(items.length).toBeGreaterThan(20);
    expect(await read(session, 'bi_bookings_items', 'parent_id, position, id, total_exact')).toEqual(
      items.map(([parent, position, { id, total }]) => ({
        parent_id: parent,
        position,
        id,
        total_exact: total,
      })),
    );
    const variants = elementsOf(service, 'products', 'variantes');
    expect(
      await read(session, 'bi_products_variantes', 'parent_id, id, code, price_exact, price_e4'),
    ).toEqual(
      variants.map(([parent, , { id, code, price }]) => ({
        parent_id: parent,
        id,
        code,
        price_exact: String(Number(price)),
        price_e4: Math.round(Number(price) * 10_000),
      })),
    );
    expect(await read(session, 'bi_vehicle_brands_notes', 'position, at, cost_exact, seen, more')).toEqual([
      { position: 0, at: '2026-01-02', cost_exact: '1.5', seen: null, more: null },
      { position: 1, at: null, cost_exact: null, seen: null, more: null },
      { position: 2, at: null, cost_exact: '2.25', seen: null, more: '{"a":1}' },
    ]);
  });

  test('a change of a record replaces its elements, a deletion hides them, and others are left alone', async () => {
    const service = await sandbox({ size: 30 });
    const session = await open();
    await pullOf(service, session, 'clients');
    const [changed = 0, other = 0] = service.world.ids('clients');
    const contact = (nom: string): JsonObject => ({ id: 1, nom });
    service.world.update('clients', changed, { contacts: [contact('Zoé'), contact('Luc')] });
    service.world.update('clients', other, { city: 'Alma' });
    await pullOf(service, session, 'clients');
    const expected = elementsOf(service, 'clients', 'contacts').map(([parent, position, { nom }]) => ({
      parent_id: parent,
      position,
      nom,
    }));
    expect(await read(session, 'bi_clients_contacts', 'parent_id, position, nom')).toEqual(expected);

    await session.atomically((tx) =>
      tx.query(sql`update clients set _deleted_at = '2026-03-01 12:00:00.000' where id = ${changed}`),
    );
    expect(await read(session, 'client_contacts', 'parent_id, position, nom')).toEqual(
      expected.filter(({ parent_id: parent }) => parent !== changed),
    );
  });
});

describe.each(Object.entries(MIRRORS).slice(0, 1))('%s', (_name, open) => {
  test('a field that was only ever empty has its column, which shows elements once it holds an array', async () => {
    const service = await sandbox({ size: 10 });
    const session = await open();
    const [first = 0, second = 0] = service.world.ids('departments');
    for (const id of service.world.ids('departments'))
      service.world.update('departments', id, { rooms: null, area: '' });
    await pullOf(service, session, 'departments');
    expect(await session.query(sql`select rooms, area from bi_departments where id = ${first}`)).toEqual([
      { rooms: null, area: '' },
    ]);

    service.world.update('departments', second, { rooms: [{ floor: 2, rent: '10.50' }], area: '12.5' });
    await pullOf(service, session, 'departments');
    expect(await read(session, 'bi_departments_rooms', 'parent_id, floor, rent_exact, rent_e4')).toEqual([
      { parent_id: second, floor: 2, rent_exact: '10.5', rent_e4: 105_000 },
    ]);
    const [shown] = await session.query(sql`select * from bi_departments where id = ${second}`);
    expect(shown).toMatchObject({ rooms: '[{"floor":2,"rent":"10.50"}]', area: '12.5' });
    expect(shown).not.toHaveProperty('rooms_text');
    expect(await session.query(sql`select * from bi_issues`)).toEqual([]);
  });

  test('an array that comes as something else is an issue as long as it does', async () => {
    const service = await sandbox({ size: 30 });
    const session = await open();
    const [id = 0, other = 0] = service.world.ids('clients');
    const contacts = [{ id: 1, nom: 'Anne' }];
    for (const one of [id, other]) service.world.update('clients', one, { contacts });
    await pullOf(service, session, 'clients');
    const issues = (): Promise<Row[]> =>
      session.query(sql`select record_id, field, code, detail from issues where closed_at is null`);
    const parents = async (): Promise<unknown[]> => {
      const rows = await session.query(sql`
        select parent_id from bi_clients_contacts where parent_id in (${id}, ${other}) order by parent_id`);
      return rows.map((row) => Number(row['parent_id']));
    };
    expect(await parents()).toEqual([id, other].sort((a, b) => a - b));

    service.world.update('clients', id, { contacts: 'none', city: 'Rimouski' });
    await pullOf(service, session, 'clients');
    expect(await issues()).toEqual([
      { record_id: String(id), field: 'contacts', code: 'not_an_array', detail: '"none"' },
    ]);
    expect(await parents()).toEqual([other]);
    const [row] = await session.query(sql`select city, contacts from bi_clients where id = ${id}`);
    expect(row).toEqual({ city: 'Rimouski', contacts: '"none"' });

    service.world.update('clients', id, { contacts });
    await pullOf(service, session, 'clients');
    expect(await issues()).toEqual([]);
    expect(await parents()).toHaveLength(2);
  });

  test('a field of the elements that has the name of one of our columns is told, once', async () => {
    const service = await sandbox({ size: 30 });
    const session = await open();
    const [first = 0] = service.world.ids('clients');
    const contacts = [{ id: 1, nom: 'Anne', position: 'Directrice', parent_id: 7, titre: 'Mme' }];
    service.world.update('clients', first, { contacts });
    await pullOf(service, session, 'clients');
    const drift = () =>
      session.query(
        sql`select kind, code, field, detail from drift where code = 'unusable_field' order by field`,
      );
    const expectedDrift = ['parent_id', 'position'].map((name) => ({
      kind: 'clients',
      code: 'unusable_field',
      field: `contacts[].${name}`,
      detail: `the name "${name}" is taken`,
    }));
    expect(await drift()).toEqual(expectedDrift);
    const [row] = await session.query(sql`
      select position, titre from bi_clients_contacts where parent_id = ${first}`);
    expect(row).toEqual({ position: 0, titre: 'Mme' });

    service.world.update('clients', first, { contacts: [{ ...contacts[0], nom: 'Zoé' }] });
    await pullOf(service, session, 'clients');
    expect(await drift()).toEqual(expectedDrift);
  });
});

test('a nested object is JSON in its column, and has a view of elements only once it was an array', async () => {
  const service = await sandbox({ size: 10 });
  const session = await MIRRORS.SQLite();
  const [first = 0, second = 0] = service.world.ids('departments');
  service.world.update('departments', first, { head: { name: 'Anne' } });
  await pullOf(service, session, 'departments');
  const views = sql`select name from sqlite_schema where name = 'bi_departments_head'`;
  expect(await session.query(views)).toEqual([]);
  service.world.update('departments', second, { head: [{ name: 'Luc' }] });
  await pullOf(service, session, 'departments');
  expect(await read(session, 'bi_departments_head', 'parent_id, name')).toEqual([
    { parent_id: second, name: 'Luc' },
  ]);
});
