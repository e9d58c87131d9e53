import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { dateField, decimalField, integerField, textField } from '../../../src/catalog/field.ts';
import type { Kind } from '../../../src/catalog/kind.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { changeKindTables, createReportIndexes } from '../../../src/store/schema/change-kind-tables.ts';
import { nestedTables } from '../../../src/store/tables/kind-table.ts';
import { readTexts } from '../../../src/db/rows/rows.ts';
import { postgresMirror } from '../../both/support.ts';
import { DATABASES } from '../../events/support.ts';
import { bystander } from '../../support/postgres.ts';
import {
  NOON_TEXT,
  columnsOf,
  kindNamed,
  madeUpKind,
  mirrorFault,
  putRecords,
  tempMirror,
  tempSession,
} from '../temp-mirror.ts';

/** Mirrors that no pull has given its indexes. */
const MIRRORS = {
  SQLite: () => tempMirror(),
  PostgreSQL: async () => (await postgresMirror('template_all_kinds')).session,
};

const grow = (session: Session, ...kinds: readonly Kind[]): Promise<void> =>
  session.atomically(async (tx) => {
    for (const kind of kinds) await changeKindTables(tx, kind, 'sqlite');
  });

const small = madeUpKind('things', [textField('name')]);
const grown = madeUpKind('things', [
  decimalField('price', 2),
  textField('name'),
  integerField('owner_id'),
  dateField('day'),
]);

describe('growing kind tables', () => {
  test('gives every kind its table', async () => {
    const session = tempSession();
    await grow(session, ...KINDS);
    const tables = await session.query(
      sql`select name from sqlite_schema where type = 'table' order by name`,
    );
    const nested = KINDS.flatMap(nestedTables);
    expect(tables.map(({ name }) => name)).toEqual([...KINDS, ...nested].map(({ name }) => name).sort());
  });

  test('adds the missing columns to a table and keeps its rows', async () => {
    const session = tempSession();
    await grow(session, small);
    await session.atomically((tx) =>
      putRecords(tx, 'things', [
        { id: '1', name: 'one', _raw: '{"id":1,"price":"3.10"}' },
        { id: '9223372036854775807', name: 'last' },
      ]),
    );
    await grow(session, grown);
    const rows = await session.query(sql`
      select cast(id as text) as id, name, price, price_e4, owner_id, day, _raw from things order by things.id`);
    const added = { price: null, price_e4: null, owner_id: null, day: null };
    expect(rows).toEqual([
      { id: '1', name: 'one', _raw: '{"id":1,"price":"3.10"}', ...added },
      { id: '9223372036854775807', name: 'last', _raw: '{}', ...added },
    ]);
  });

  test('gives added columns the types that a new table would have', async () => {
    const old = tempSession();
    const fresh = tempSession();
    await grow(old, small);
    await grow(old, grown);
    await grow(fresh, grown);
    const byName = async (session: Session) => new Map(await columnsOf(session, 'things'));
    expect(await byName(old)).toEqual(await byName(fresh));
  });

  test('never moves, retypes or drops a column that is there', async () => {
    const session = tempSession();
    await grow(session, small);
    const before = await columnsOf(session, 'things');
    await grow(session, grown);
    await grow(session, small); // An older catalogue.
    await grow(session, madeUpKind('things', [integerField('name')])); // A catalogue that sees it differently.
    expect((await columnsOf(session, 'things')).slice(0, before.length)).toEqual(before);
  });

  test('a new table has columns of fixed width first and texts last, and its views keep their order', async () => {
    const lines = kindNamed('purchase_products');
    const order = [
      '_deleted_at',
      'id',
      'purchase_id',
      'product_id',
      'product_price_e4',
      'product_price',
      '_raw',
    ];
    for (const mirror of Object.values(MIRRORS)) {
      const session = await mirror();
      const columns = (table: string) => session.atomically(async (tx) => [...(await tx.listColumns(table))]);
      const inTable = await columns(lines.name);
      expect(inTable.filter((name) => order.includes(name))).toEqual(order);
      expect(inTable.at(-1)).toBe('_raw');
      const inView = await columns(`bi_${lines.name}`);
      const fields = lines.fields.map((field) => field.name);
      expect(inView.filter((name) => fields.includes(name))).toEqual(fields);
    }
  });

  test('a second time changes nothing', async () => {
    const session = tempSession();
    const schema = () => session.query(sql`select name, sql from sqlite_schema order by name`);
    await grow(session, ...KINDS, grown);
    const first = await schema();
    await grow(session, ...KINDS, grown);
    expect(await schema()).toEqual(first);
  });

  test('live rows are counted without reading them', async () => {
    const session = tempSession();
    await grow(session, small);
    const plan = await session.query(
      sql`explain query plan select count(*) from things where _deleted_at is not null`,
    );
    expect(JSON.stringify(plan)).toContain('COVERING INDEX things_deleted');
  });

  test('G17: names with quotes in them are taken as they are', async () => {
    const session = tempSession();
    const odd = madeUpKind('odd "things"; drop table x', [
      textField(`it's "so" ü; --`),
      integerField('select'),
    ]);
    await grow(session, odd);
    await grow(session, { ...odd, fields: [...odd.fields, textField('one "more"')] });
    expect((await columnsOf(session, odd.name)).map(([name]) => name)).toEqual(
      expect.arrayContaining(['id', `it's "so" ü; --`, 'select', 'one "more"']),
    );
  });
});

const projects = kindNamed('projects');
const bookings = kindNamed('bookings');
const clients = kindNamed('clients');

const indexesOf = (session: Session): Promise<string[]> =>
  readTexts(
    session,
    session.dialect === 'sqlite'
      ? sql`select name from sqlite_schema where type = 'index' and name like '%\\_index' escape '\\' and name not like '%search%'
          and tbl_name in ('projects', 'bookings', 'clients') order by 1`
      : sql`select c.relname from pg_index i join pg_class c on c.oid = indexrelid
          join pg_class t on t.oid = indrelid
          where i.indisvalid and c.relname like '%\\_index' and c.relname not like '%search%' and t.relname in ('projects', 'bookings', 'clients') order by 1`,
  );

const endBaseline = (session: Session, ...kinds: readonly string[]): Promise<void> =>
  session.atomically(async (tx) => {
    for (const kind of kinds)
      await tx.query(sql`
        insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
        values (${kind}, 1, 'complete', 1, 1, ${NOON_TEXT})`);
  });

describe.each(DATABASES)('indexes for reports, in %s', (database) => {
  test('references and dates that have a column are indexed once the baseline is over', async () => {
    const session = await MIRRORS[database]();
    await createReportIndexes(session, [projects, bookings, clients]);
    expect(await indexesOf(session)).toEqual([]);
    await endBaseline(session, 'projects', 'bookings');
    await createReportIndexes(session, [projects, bookings, clients]);
    expect(await indexesOf(session)).toEqual([
      'bookings__changed_at_index',
      'projects__changed_at_index',
      'projects__key_index',
      'projects_client_id_index',
    ]);
    const longer = { ...bookings, fields: [...bookings.fields, dateField('pickup_date')] };
    await session.atomically((tx) => changeKindTables(tx, longer, session.dialect));
    for (const again of [1, 2]) {
      await createReportIndexes(session, [projects, longer, clients]);
      expect([again, await indexesOf(session)]).toEqual([
        again,
        [
          'bookings__changed_at_index',
          'bookings_pickup_date_index',
          'projects__changed_at_index',
          'projects__key_index',
          'projects_client_id_index',
        ],
      ]);
    }
  });
});

describe.each(DATABASES)('references, in %s', (database) => {
  test('each has an index, those of nested arrays and of kinds without a list included', async () => {
    const session = await MIRRORS[database]();
    await endBaseline(session, ...KINDS.map(({ name }) => name));
    await createReportIndexes(session, KINDS);
    const indexes =
      session.dialect === 'sqlite'
        ? sql`select m.tbl_name || '.' || i.name from sqlite_schema m, pragma_index_info(m.name) i
            where m.type = 'index' and i.seqno = 0`
        : sql`select t.relname || '.' || a.attname from pg_index i join pg_class t on t.oid = i.indrelid
            join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]`;
    const indexed = new Set(await readTexts(session, indexes));
    const related = await readTexts(
      session,
      sql`select view || '.' || "column" from bi_relations order by 1`,
    );
    const tables = [...KINDS, ...KINDS.flatMap(nestedTables)].map(({ name }) => name);
    const references = related
      .map((one) => one.replace(/^bi_/, ''))
      .filter((one) => tables.some((table) => one.startsWith(`${table}.`)));
    expect(references.length).toBeGreaterThan(10);
    const parents = ['purchase_products.purchase_id', 'punches.user_id', 'punches.appointment_id'];
    expect([...references, ...parents].filter((one) => !indexed.has(one))).toEqual([]);
    expect([...indexed].filter((one) => one.endsWith('.system_id'))).toEqual([]);
  });
});

test('PostgreSQL: an index waits for no reader, and one that another writer kept back is made after the next run', async () => {
  const { session, url } = await postgresMirror('template_all_kinds');
  await endBaseline(session, 'projects');
  const reader = await bystander(url);
  const writer = await bystander(url);
  await reader.query('begin isolation level repeatable read; select count(*) from bms_sync.projects');
  await writer.query('begin; lock table bms_sync.projects in row exclusive mode');
  expect(await mirrorFault(() => createReportIndexes(session, [projects]))).toBe('mirror.locked');
  expect(await indexesOf(session)).toEqual([]);
  await writer.query('rollback');
  await createReportIndexes(session, [projects]);
  expect(await indexesOf(session)).toEqual([
    'projects__changed_at_index',
    'projects__key_index',
    'projects_client_id_index',
  ]);
});

test('a publication of all tables does not stop deletes from nested tables, of older mirrors either', async () => {
  const { session, url } = await postgresMirror('template_all_kinds');
  const admin = await bystander(url);
  const { rows } = await admin.query<{ schema: string }>(
    `select schemaname as schema from pg_tables where tablename = 'clients_contacts'`,
  );
  await admin.query(`alter table ${rows[0]?.schema}.clients_contacts replica identity default`); // As an older release left it.
  await admin.query('create publication theirs for all tables');
  await session.atomically((tx) => changeKindTables(tx, kindNamed('clients'), 'postgres'));
  const removal = session.atomically(async (tx) => {
    await tx.query(sql`insert into clients_contacts (parent_id, position) values (1, 0)`);
    await tx.query(sql`delete from clients_contacts`);
  });
  await expect(removal).resolves.toBeUndefined();
});
