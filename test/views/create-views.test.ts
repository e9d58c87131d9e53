import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { jsonField, referenceField, textField } from '../../src/catalog/field.ts';
import type { Field } from '../../src/catalog/kind.ts';
import { describeKindName } from '../../src/catalog/descriptions.ts';
import { translateAll, translatorFor } from '../../src/lib/text/translator.ts';
import { readMirroredKind, saveFields } from '../../src/store/kinds/field-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { identifier } from '../../src/db/session/sql-text.ts';
import { replaceViews } from '../../src/views/create-views.ts';
import { discoverColumns } from '../../src/views/discover-columns.ts';
import { migrate } from '../../src/views/migrate.ts';
import { readTexts } from '../../src/db/rows/rows.ts';
import { listViews } from '../../src/views/views.ts';
import { DATABASES, mirrorIn } from '../events/support.ts';
import { pullFrom, sandbox } from '../pull/support.ts';
import { bystander, freshDatabaseUrl, freshRole } from '../support/postgres.ts';
import { openForTest } from '../store/postgres-mirror.ts';
import { NOON, NOON_TEXT, kindNamed, madeUpKind, putRecords, tempMirror } from '../store/temp-mirror.ts';

/** What PostgreSQL itself gives where a view refuses writes. */
const REFUSED = '55000';

const writesTo = (view: string, column: string): readonly string[] => [
  `delete from ${identifier(view)}`,
  `delete from ${identifier(view)} where false`,
  `update ${identifier(view)} set ${identifier(column)} = null`,
  `insert into ${identifier(view)} (${identifier(column)}) values (null)`,
];

async function viewsOfPostgres(
  session: Session,
): Promise<readonly (readonly [view: string, column: string])[]> {
  const rows = await session.query(sql`
    select relname as view, attname as column from pg_class c join pg_attribute on attrelid = c.oid and attnum = 1
    where relkind = 'v' and relnamespace = 'public'::regnamespace`);
  return rows.map(({ view, column }) => [String(view), String(column)]);
}

/** A mirror of three clients whose tables and views a user without further rights owns. */
async function ownMirror(): Promise<{ url: string; session: Session; owner: string }> {
  const url = await freshDatabaseUrl();
  const owner = await freshRole(url);
  const admin = await bystander(url);
  await admin.query(`
    grant create on database ${new URL(url).pathname.slice(1)} to ${owner.name}; grant create on schema public to ${owner.name}`);
  const session = await openForTest(owner.url);
  await migrate(session, KINDS);
  await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '1' }, { id: '2' }, { id: '3' }]));
  return { url, session, owner: owner.url };
}

test('PostgreSQL: every view refuses every write, by its owner and by a superuser, and says why', async () => {
  const { url, session, owner } = await ownMirror();
  const views = await viewsOfPostgres(session);
  expect(views.length).toBeGreaterThan(30);
  for (const client of [await bystander(owner), await bystander(url)])
    for (const [view, column] of views)
      for (const write of writesTo(view, column))
        await expect(client.query(write), write).rejects.toMatchObject({
          code: REFUSED,
          message: expect.stringContaining(
            `public.${identifier(view).includes(' ') ? identifier(view) : view} `,
          ) as unknown,
          hint: expect.stringContaining('The change goes to the service') as unknown,
        });
  expect(await session.query(sql`select id from bi_clients`)).toHaveLength(3);
});

test('PostgreSQL: a view that is created again keeps the rights that others gave on it', async () => {
  const url = await freshDatabaseUrl();
  const session = await openForTest(url);
  await migrate(session, KINDS);
  const [given] = listViews(KINDS, 'postgres').filter(({ name }) => name === 'bi_changes');
  const [first, ...others] = given?.columns ?? [];
  if (given === undefined || first === undefined) throw new Error('no such view');
  const { name: analyst } = await freshRole(url);
  const admin = await bystander(url);
  await admin.query(
    `grant select on bi_changes to ${analyst} with grant option; grant select on bi_changes to public`,
  );
  const changed = {
    ...given,
    columns: [{ ...first, expression: `cast(${first.expression} as text)` }, ...others],
  };
  const rightsOf = async (): Promise<unknown> =>
    (await admin.query(`select relacl::text, relowner from pg_class where relname = 'bi_changes'`)).rows;
  const before = await rightsOf();
  await session.atomically((tx) => replaceViews(tx, [changed]));
  expect(await rightsOf()).toEqual(before);
  expect(
    (await admin.query(`select pg_typeof(${first.name}) as t from bi_changes union all select 'text'`)).rows,
  ).toEqual([{ t: 'text' }]);
});

test('PostgreSQL: a view is still read as if it were not there: joins go by the indexes of the tables', async () => {
  const session = await openForTest(await freshDatabaseUrl());
  await migrate(session, KINDS);
  const [plan] = await session.atomically((tx) =>
    tx.query(sql`
      explain (format json) select p.id from bi_purchase_products p join bi_clients c on c.id = p.id where c.id = 7`),
  );
  const text = JSON.stringify(plan);
  expect(text).toContain('clients_pkey');
  expect(text).not.toContain('Subquery Scan');
});

describe('SQLite', () => {
  test('every view refuses every write', async () => {
    const session = await tempMirror();
    const views = await session.query(sql`select name from sqlite_schema where type = 'view'`);
    expect(views.length).toBeGreaterThan(20);
    for (const { name } of views) {
      const [column] = await session.query(sql`select name from pragma_table_xinfo(${String(name)}) limit 1`);
      for (const write of writesTo(String(name), String(column?.['name'])))
        await expect(
          session.atomically((tx) => tx.execute(write)),
          write,
        ).rejects.toThrow(`cannot modify ${String(name)} because it is a view`);
    }
  });
});

const SHOWN = {
  sqlite: sql`
    select m.name || '.' || c.name || '.' || (c.cid + 1) from sqlite_schema m, pragma_table_xinfo(m.name) c
    where m.type = 'view' and m.name not in ('sync_status_now', 'price_changes_now', 'statuses_now') order by 1`,
  postgres: sql`
    select (table_name || '.' || column_name || '.' || ordinal_position) collate "C" from information_schema.columns
    where table_schema = 'public' order by 1`,
};

const dictionary = (session: Session): Promise<string[]> =>
  readTexts(
    session,
    sql.raw(
      `select (view || '.' || "column" || '.' || ordinal)${session.dialect === 'postgres' ? ' collate "C"' : ''} from bi_dictionary order by 1`,
    ),
  );

const entry = async (session: Session, view: string, column: string) =>
  (await session.query(sql`select * from bi_dictionary where view = ${view} and "column" = ${column}`))[0];

async function declaredType(session: Session, view: string, column: string): Promise<string> {
  const types =
    session.dialect === 'sqlite'
      ? sql`select type from pragma_table_xinfo(${view}) where name = ${column}`
      : sql`select data_type from information_schema.columns where table_name = ${view} and column_name = ${column}`;
  return (await readTexts(session, types)).join().toLowerCase();
}

describe.each(DATABASES)('%s', (database) => {
  test('the dictionary has every column of every view, with its place', async () => {
    const { session } = await mirrorIn(database);
    expect(await dictionary(session)).toEqual(await readTexts(session, SHOWN[session.dialect]));
  });

  test('an entry tells type, unit, section, and meaning and label in both languages', async () => {
    const { session } = await mirrorIn(database);
    expect(await entry(session, 'bi_clients', 'credit_e4')).toEqual({
      view: 'bi_clients',
      column: 'credit_e4',
      type: 'integer',
      section: '2.3',
      unit: '0.0001 currency of the company',
      ordinal: 19,
      label_en: 'Credit, in 0.0001',
      label_fr: 'Crédit, en 0,0001',
      meaning: 'The credit. In units of 0.0001, for exact sums.',
      meaning_fr: 'Le crédit. En unités de 0,0001, pour des sommes exactes.',
    });
    expect(await entry(session, 'bi_projects', 'active')).toMatchObject({ type: 'flag', label_fr: 'Actif' });
    expect(await entry(session, 'bi_projects_tasks', 'active')).toMatchObject({ type: 'flag' });
    expect(await entry(session, 'bi_punches', 'ptotal')).toMatchObject({ type: 'decimal', unit: 'hours' });
    const blank = sql`select 1 from bi_dictionary where '' in (meaning, meaning_fr, label_en, label_fr)`;
    expect(await session.query(blank)).toEqual([]);
  });

  test('a flag is called one, and is an integer of 0 or 1 on both databases', async () => {
    const { session } = await mirrorIn(database);
    const service = await sandbox({ size: 12 });
    await pullFrom(service, session);
    const flags = await session.query(sql`select view, "column" from bi_dictionary where type = 'flag'`);
    expect(flags.length).toBeGreaterThan(5);
    for (const { view, column } of flags) {
      const at = String(view);
      const name = String(column);
      expect([at, name, await declaredType(session, at, name)]).toEqual([at, name, 'integer']);
      const shown = sql`select distinct ${sql.identifier(name)} as flag from ${sql.identifier(at)}`;
      const values = (await session.query(shown)).map(({ flag }) => flag);
      expect(values.filter((value) => ![0, 1, null].includes(value as number | null))).toEqual([]);
    }
  });

  test('each relation leads from a column to the id of another view, and tells how none is written', async () => {
    const { session } = await mirrorIn(database);
    const relations = await session.query(sql`select * from bi_relations order by view, "column"`);
    expect(relations).toContainEqual({
      view: 'bi_projects',
      column: 'client_id',
      to_view: 'bi_clients',
      to_column: 'id',
      none: '0',
    });
    expect(relations).toContainEqual({
      view: 'bi_clients_contacts',
      column: 'parent_id',
      to_view: 'bi_clients',
      to_column: 'id',
      none: null,
    });
    for (const { view, column, to_view: to } of relations)
      await session.query(sql`
        select count(*) from ${sql.identifier(String(view))} a
        join ${sql.identifier(String(to))} b on b.id = a.${sql.identifier(String(column))}`);
  });

  test('discovered fields, and fields of the settings, are described too, once', async () => {
    const { session } = await mirrorIn(database);
    const clients = kindNamed('clients');
    const fields = new Map([['hair_colour', { type: 'text', wire: 'text', fitsHint: false }]] as const);
    await session.atomically((tx) => saveFields(tx, clients, fields, NOON));
    const grown = await discoverColumns(session, await readMirroredKind(session, clients), NOON);
    expect(await entry(session, 'bi_clients', 'hair_colour')).toMatchObject({ type: 'text', section: null });
    const bills = madeUpKind('bills', [
      referenceField(textField('client_id'), 'clients'),
      jsonField('lines'),
    ]);
    await migrate(session, [clients, bills]);
    expect(await readMirroredKind(session, clients)).toEqual(grown);
    expect(await entry(session, 'bi_products', 'id')).toBeUndefined();
    expect(await entry(session, 'bi_clients', 'hair_colour')).toMatchObject({ label_en: 'Hair colour' });
  });

  test('an element is told as JSON where it is an object, else as text', async () => {
    const { session } = await mirrorIn(database);
    await pullFrom(await sandbox({ size: 12 }), session);
    expect(await entry(session, 'bi_categories_img_paths', 'value')).toMatchObject({ type: 'text' });
    expect(await entry(session, 'bi_products_medias', 'value')).toMatchObject({ type: 'json' });
  });

  test('bi_issues has the open issues with what was sent', async () => {
    const { session } = await mirrorIn(database);
    await session.atomically(async (tx) => {
      for (const closed of [null, NOON_TEXT])
        await tx.query(sql`
          insert into issues (kind, record_id, field, code, detail, first_seen_at, closed_at)
          values ('clients', '7', 'credit', 'not_a_decimal', '"abc"', ${NOON_TEXT}, ${closed})`);
    });
    expect(await session.query(sql`select * from bi_issues`)).toEqual([
      {
        kind: 'clients',
        record_id: 7,
        field: 'credit',
        code: 'not_a_decimal',
        sent: '"abc"',
        since: NOON_TEXT,
      },
    ]);
  });
});

test('PostgreSQL comments on its views and their columns in the language of the setting, later columns too', async () => {
  const { session } = await mirrorIn('PostgreSQL');
  const commentsOf = (column: string) =>
    session.query(sql`
      select obj_description(attrelid) as view, col_description(attrelid, attnum) as column
      from pg_attribute where attrelid = 'bi_punches'::regclass and attname = ${column}`);
  expect(await commentsOf('ptotal')).toEqual([
    { view: 'Time punches: when a user began and ended work.', column: 'The time worked. Unit: hours.' },
  ]);

  await migrate(session, KINDS, { language: 'fr' });
  const { fr: view } = describeKindName('punches').meaning;
  expect(await commentsOf('ptotal')).toEqual([{ view, column: 'Le temps travaillé. Unité\u00a0: heures.' }]);
  const fields = new Map([['mood', { type: 'text', wire: 'text', fitsHint: false }]] as const);
  await session.atomically((tx) => saveFields(tx, kindNamed('punches'), fields, NOON));
  await discoverColumns(session, await readMirroredKind(session, kindNamed('punches')), NOON);
  const { en, fr: column } = translateAll('The documentation does not show this field.');
  expect(await commentsOf('mood')).toEqual([{ view, column }]);

  expect(await migrate(session, KINDS, { language: 'fr' })).toBe(false);
  expect(await migrate(session, KINDS)).toBe(true);
  expect(await commentsOf('mood')).toEqual([
    { view: 'Time punches: when a user began and ended work.', column: en },
  ]);
});

test('every unit has French: of documented fields and those seen in the wild, and of the views about the mirror', () => {
  const fields: readonly Field[] = [
    textField('lines'),
    { name: 'lines_text', type: 'text', textOf: 'lines' },
  ];
  const discovered = KINDS.map((kind) => ({ ...kind, fields: [...kind.fields, ...kind.hints] }));
  const views = listViews([...discovered, madeUpKind('bills', fields)], 'postgres');
  const units = views.flatMap(({ columns }) => columns.map(({ description: { unit } }) => unit ?? 'UTC'));
  const { term: word } = translatorFor('fr');
  expect(units.filter((unit) => unit !== 'UTC' && word(unit) === unit)).toEqual([]);
});
