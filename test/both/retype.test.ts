import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { recordComparer } from '../../src/report/verify/compare-record.ts';
import { KINDS, kindNamed } from '../../src/catalog/kinds/catalog.ts';
import type { Field, Kind } from '../../src/catalog/kind.ts';
import { recordDecoder } from '../../src/diff/decode-record.ts';
import { parseObject } from '../../src/lib/json/json.ts';
import { asMirrored } from '../../src/mirror/kinds/field-store.ts';
import { kindColumns, writtenColumns, writtenRow } from '../../src/mirror/tables/kind-table.ts';
import { writeMeta } from '../../src/mirror/kinds/meta.ts';
import { migrate } from '../../src/mirror/shape/migrate.ts';
import { redecode } from '../../src/mirror/shape/redecode.ts';
import type { Row, Session, SqlValue, Transaction } from '../../src/db/session/session.ts';
import { drawViews } from '../../src/mirror/views/draw-views.ts';
import { kindViews } from '../../src/mirror/views/views.ts';
import { openForTest as openPostgres } from '../mirror/postgres-mirror.ts';
import { NOON, NOON_TEXT, tempSession } from '../mirror/temp-mirror.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';

const DATABASES: readonly (readonly [name: string, open: () => Promise<Session>])[] = [
  ['SQLite', () => Promise.resolve(tempSession())],
  ['PostgreSQL', async () => openPostgres(await freshDatabaseUrl())],
];

const named = (name: string): Kind => kindNamed(name) ?? expect.fail(`no kind ${name}`);

/** Fields as release 3 had them: no field referred to a kind. */
const before = (field: Field): Field => {
  const { refersTo, ...rest } = field;
  return refersTo === undefined ? field : rest;
};

/** Kinds as release 3 mirrored them, with what it discovered; `upc` came as digits in quotes, `rank` as numbers. */
const discovered: Readonly<Record<string, readonly Field[]>> = {
  products: [
    { name: 'provider_id', type: 'integer' },
    { name: 'upc', type: 'integer' },
    { name: 'rank', type: 'integer' },
    { name: 'price', type: 'decimal', scale: 4 },
  ],
  purchase_products: [],
};
const oldKinds: readonly Kind[] = Object.entries(discovered).map(([name, fields]) => ({
  ...named(name),
  fields: [...named(name).fields.map(before), ...fields],
}));

const PRODUCTS = [
  '{"id":7,"code":"P-7","provider_id":3,"upc":"121313","rank":1,"price":"10.50"}',
  '{"id":8,"code":"P-8","provider_id":"","upc":"012345678905","rank":"","price":"2.00"}',
  '{"id":9,"code":"P-9","provider_id":0,"upc":"ABC-1","rank":3,"price":null}',
  '{"id":10,"code":"P-10","provider_id":3,"upc":42,"rank":4}',
  '{"id":11,"code":"P-11","upc":["1",2.50],"rank":5}',
];
const LINES = [
  '"7"',
  '7',
  '"007"',
  '"ABC"',
  '""',
  '"0"',
  '"9223372036854775807"',
  '"9223372036854775808"',
  'null',
].map((id, at) => `{"id":${at + 1},"purchase_id":1,"product_id":${id},"product_name":"é \\ud83c\\udf41"}`);

/** A mirror as release 3 left it, filled by its rules. */
async function oldMirror(session: Session): Promise<void> {
  await migrate(session, KINDS);
  const { dialect } = session;
  await session.atomically(async (tx) => {
    for (const kind of oldKinds) {
      await tx.execute(`drop table ${kind.name} ${dialect === 'postgres' ? 'cascade' : ''}`);
      const columns = kindColumns(kind, dialect).map(
        ({ name, type, rule }) => `"${name}" ${type} ${rule ?? ''}`,
      );
      await tx.execute(`create table ${kind.name} (${columns.join(', ')})`);
      await tx.execute(
        `create index "${kind.name}_deleted" on ${kind.name} (_deleted_at) where _deleted_at is not null`,
      );
      await drawViews(tx, kindViews(kind, dialect), dialect);
      await tx.query(sql`
        insert into kind_state (kind, tick, state, complete_sweeps, epoch, decoded_as)
        values (${kind.name}, 4, 'complete', 2, 2, 'as release 3 did')`);
      await land(tx, kind, kind.name === 'products' ? PRODUCTS : LINES);
      await register(tx, kind);
    }
    await writeMeta(tx, 'version', '0');
    await writeMeta(tx, 'layout', 'of release 3');
  });
}

async function land(tx: Transaction, kind: Kind, raws: readonly string[]): Promise<void> {
  const rows = raws.map((raw): SqlValue[] => {
    const { values } = recordDecoder(kind)(parseObject(raw));
    return writtenRow(kind, tx.dialect, values, [NOON_TEXT, NOON_TEXT, null, 2, 2, raw]);
  });
  await tx.putRows({ table: kind.name, columns: writtenColumns(kind, tx.dialect), rows });
}

async function register(tx: Transaction, { name, fields }: Kind): Promise<void> {
  await tx.append({
    table: 'fields',
    columns: [
      'kind',
      'field',
      'documented',
      'type',
      'fits_hint',
      'wire',
      'column_type',
      'column_scale',
      'position',
      'first_seen_at',
    ],
    rows: fields.map((field, at) => {
      const isDiscovered = discovered[name]?.includes(field) === true;
      const wire =
        { upc: 'array number text', rank: 'number text', provider_id: 'number text' }[field.name] ?? 'text';
      const column = isDiscovered ? [field.type, field.scale ?? null] : [null, null];
      return [name, field.name, isDiscovered ? 0 : 1, field.type, 1, wire, ...column, at + 1, NOON_TEXT];
    }),
  });
}

const shownTypes = async (session: Session, relation: string): Promise<Record<string, string>> => {
  const rows = await session.query(
    session.dialect === 'sqlite'
      ? sql`select name, type from pragma_table_xinfo(${relation})`
      : sql`select attname as name, format_type(atttypid, null) as type from pg_attribute
          where attrelid = to_regclass(${relation}) and attnum > 0 and not attisdropped`,
  );
  return Object.fromEntries(rows.map(({ name, type }) => [String(name), String(type).toLowerCase()]));
};

const openIssues = (session: Session): Promise<Row[]> =>
  session.query(sql`
    select kind, record_id, field, detail from issues where closed_at is null order by kind, field, id`);

async function columnsByHand(session: Session, query: SQL): Promise<SqlValue[][]> {
  return (await session.query(query)).map((row) => Object.values(row));
}

describe.each(DATABASES)('a filled %s mirror of release 3', (_name, open) => {
  test('gets references that join and digits that are text, with every row as it was otherwise', async () => {
    const session = await open();
    await oldMirror(session);
    const rest = sql`
      select id, code, rank, price, _raw, _first_seen_at, _changed_at, _deleted_at, _response, _listed from products order by id`;
    const held = await session.query(rest);

    expect(await migrate(session, KINDS)).toBe(true);
    expect(await migrate(session, KINDS)).toBe(false);

    expect(await session.query(rest)).toEqual(held);
    expect(await columnsByHand(session, sql`select upc from products order by id`)).toEqual([
      ['121313'],
      ['012345678905'],
      ['ABC-1'],
      ['42'],
      [null],
    ]);
    expect(
      await columnsByHand(
        session,
        sql`select product_id, product_id_text from bi_purchase_products order by id`,
      ),
    ).toEqual([
      [7, null],
      [7, null],
      [null, '007'],
      [null, 'ABC'],
      [null, null],
      [0, null],
      ['9223372036854775807', null],
      [null, '9223372036854775808'],
      [null, null],
    ]);
    expect(
      await columnsByHand(
        session,
        sql`select l.id from bi_purchase_products l join bi_products p on p.id = l.product_id order by l.id`,
      ),
    ).toEqual([[1], [2]]);
    expect(await shownTypes(session, 'bi_purchase_products')).toMatchObject({
      product_id: 'bigint',
      product_id_text: 'text',
    });
    expect(await shownTypes(session, 'bi_products')).toMatchObject({
      upc: 'text',
      rank: 'bigint',
      provider_id: 'bigint',
    });
    expect(await session.query(sql`select seq from changes`)).toEqual([]);
    expect(
      await columnsByHand(
        session,
        sql`select field, type, column_type, text_column from fields where field in ('upc', 'rank', 'provider_id', 'product_id') order by field`,
      ),
    ).toEqual([
      ['product_id', 'text', null, 'product_id_text'],
      ['provider_id', 'integer', 'integer', null],
      ['rank', 'integer', 'integer', null],
      ['upc', 'text', 'text', 'upc_text'],
    ]);
    expect(await openIssues(session)).toEqual([
      { kind: 'products', record_id: '8', field: 'provider_id', detail: '""' },
      { kind: 'products', record_id: '8', field: 'rank', detail: '""' },
      { kind: 'products', record_id: '11', field: 'upc', detail: '["1",2.50]' },
      { kind: 'purchase_products', record_id: '3', field: 'product_id', detail: '"007"' },
      { kind: 'purchase_products', record_id: '4', field: 'product_id', detail: '"ABC"' },
      { kind: 'purchase_products', record_id: '8', field: 'product_id', detail: '"9223372036854775808"' },
    ]);
  });

  test('holds after the migration what verify expects, and decoding all of it anew changes nothing', async () => {
    const session = await open();
    await oldMirror(session);
    await migrate(session, KINDS);
    for (const { name } of oldKinds) {
      const kind = await asMirrored(session, named(name));
      const all = sql`select * from ${sql.identifier(name)} order by id`;
      const rows = await session.query(all);
      const compare = recordComparer(kind, session.dialect);
      for (const row of rows) {
        const raw = String(row['_raw']);
        const incoming = { id: String(row['id']), raw, record: parseObject(raw) };
        expect(compare(incoming, row).differences).toEqual([]);
      }
      await redecode(session, kind, { now: NOON });
      expect(await session.query(all)).toEqual(rows);
    }
  });

  test('keeps a user’s indexes, and on SQLite a user’s view', async () => {
    const session = await open();
    await oldMirror(session);
    await session.atomically(async (tx) => {
      await tx.execute('create index mine on purchase_products (product_id, purchase_id)');
      await tx.execute('create index other on purchase_products (product_name)');
      if (session.dialect === 'sqlite')
        await tx.execute('create view my_lines as select product_id, purchase_id from bi_purchase_products');
    });
    await migrate(session, KINDS);
    const catalogue =
      session.dialect === 'sqlite'
        ? sql`select name from sqlite_schema where type = 'index' and tbl_name = 'purchase_products' and sql is not null order by 1`
        : sql`select indexname as name from pg_indexes where tablename = 'purchase_products' and indexname not like '%pkey' order by 1`;
    expect(await columnsByHand(session, catalogue)).toEqual([
      ['mine'],
      ['other'],
      ['purchase_products_deleted'],
    ]);
    if (session.dialect === 'sqlite')
      expect(await session.query(sql`select count(product_id) as n from my_lines`)).toEqual([{ n: 4 }]);
  });

  test('reads every row of thousands, and dying leaves what was there', async () => {
    const session = await open();
    await oldMirror(session);
    const ids = Array.from({ length: 2_500 }, (_, at) => at + 100);
    const lost = ids.map((id) => `{"id":${id},"product_id":"${id % 2 === 0 ? '' : '0'}${id}"}`);
    const lines = oldKinds.find(({ name }) => name === 'purchase_products') ?? expect.fail();
    await session.atomically((tx) => land(tx, lines, lost));
    const dying: Session = {
      ...session,
      atomically: (work) =>
        session.atomically(async (tx) => {
          await work(tx);
          throw new Error('killed');
        }),
    };
    await expect(migrate(dying, KINDS)).rejects.toThrow('killed');
    expect(await shownTypes(session, 'bi_purchase_products')).toMatchObject({ product_id: 'text' });
    await migrate(session, KINDS);
    expect(
      await session.query(sql`
        select count(product_id) as ids, count(product_id_text) as texts from bi_purchase_products where id >= 100`),
    ).toEqual([{ ids: 1250, texts: 1250 }]);
  });
});
