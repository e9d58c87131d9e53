import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/catalog.ts';
import { reference, text } from '../../../src/catalog/field.ts';
import type { Kind } from '../../../src/catalog/kind.ts';
import { MirrorError } from '../../../src/mirror/session/errors.ts';
import { migrate } from '../../../src/mirror/shape/migrate.ts';
import type { Row, Session } from '../../../src/mirror/session/session.ts';
import { bystander, freshRole } from '../../support/postgres.ts';
import { openForTest as openPostgres } from '../postgres-mirror.ts';
import { RELEASED, RELEASED_KINDS, releasedPostgres, releasedSqlite } from '../released-mirror.ts';
import { openForTest as openSqlite, thrownBy } from '../temp-mirror.ts';

const changed = (change: (kind: Kind) => Kind): readonly Kind[] =>
  KINDS.map((kind) => (kind.name === 'clients' ? change(kind) : kind));

/** A column of the table of clients has another type than the table that is there. */
const retyped = changed((kind) => ({
  ...kind,
  fields: kind.fields.map((field) => (field.name === 'code' ? { ...field, type: 'integer' } : field)),
}));

/** A column of clients is shown no longer. */
const shorter = changed((kind) => ({ ...kind, fields: kind.fields.filter(({ name }) => name !== 'fax') }));

async function contentOf(session: Session): Promise<Record<string, Row[]>> {
  const content: Record<string, Row[]> = {};
  const [own, all] = [sql`id, _raw, _first_seen_at, _changed_at, _deleted_at, _response, _listed`, sql`*`];
  const read = async (table: string, columns = all): Promise<void> => {
    const rows = sql`select ${columns} from ${sql.identifier(table)} order by 1, 2`;
    content[table] = await session.query(rows);
  };
  for (const { name } of RELEASED_KINDS) await read(name, own);
  for (const table of ['outbox', 'changes', 'sightings', 'runs']) await read(table);
  return content;
}

async function refusal(work: () => Promise<unknown>): Promise<{ message: string; hint: string }> {
  const error = await thrownBy(work);
  if (!(error instanceof MirrorError)) throw error;
  expect(error.code).toBe('mirror.blocked_by_view');
  return { message: error.message, hint: error.hint ?? '' };
}

/** The SQL of a refusal: what is to be done before the migration, and after it. */
function statementsOf(hint: string): readonly [before: string, after: string] {
  const [before = '', after = ''] = hint.split('-- bms-sync migrate');
  return [before.slice(before.indexOf('\n')), after];
}

describe.each(RELEASED)('a filled %s mirror of the release before', (_name, open) => {
  test('keeps every row and its outbox, and is migrated once', async () => {
    const session = await open();
    const before = await contentOf(session);

    expect(await migrate(session, KINDS)).toBe(true);
    expect(await migrate(session, KINDS)).toBe(false);

    expect(await contentOf(session)).toMatchObject(before);
    expect(before['clients']).toHaveLength(3);
    expect(before['outbox']).toMatchObject([{ idempotency_key: 'waits', state: 'ready' }]);
    expect(await session.query(sql`select code from bi_clients order by id`)).toHaveLength(3);
  });
});

/** Every relation of a database with its columns: what a migration that is refused must leave as it was. */
async function schemaOf(client: pg.Client): Promise<unknown[]> {
  const { rows } = await client.query<Row>(`
    select c.oid, relnamespace::regnamespace::text, relname, relkind, relacl::text, array_agg(attname || ' ' || atttypid order by attnum)
    from pg_class c join pg_attribute on attrelid = c.oid
    where relnamespace not in (select oid from pg_namespace where nspname ~ '^pg_|^information_schema') group by c.oid order by c.oid`);
  return rows;
}

async function valuesOf(client: pg.Client, query: string): Promise<unknown[]> {
  const { rows } = await client.query<Record<string, unknown>>(query);
  return rows.map((row) => Object.values(row)[0]);
}

describe('what a user has built on a PostgreSQL mirror of the release before', () => {
  test('goes on where nothing that it needs changes: views on views and on tables, and rights', async () => {
    const url = await releasedPostgres();
    const [client, reader] = [await bystander(url), await freshRole(url)];
    await client.query(
      `
      create view mine as select id from bi_departments;
      create view on_table as select id, code from clients;
      grant select on bi_clients, client_contacts to ${reader.name};
      grant select (code) on bi_providers to ${reader.name} with grant option;
      grant select on bi_sync_status to public;
      create table clients_of_mine as select id, _raw, _changed_at from clients`.replace('id, no', 'id'),
    );
    const before = await valuesOf(client, 'select id from mine order by id');

    await migrate(await openPostgres(url), KINDS);

    expect(await valuesOf(client, 'select id from mine order by id')).toEqual(before);
    expect(await valuesOf(client, 'select code from on_table')).toHaveLength(3);
    expect(await valuesOf(client, 'select id from public.clients_of_mine')).toHaveLength(3);
    await client.query(`set session authorization ${reader.name}`);
    for (const read of [
      'id from bi_clients',
      'email from client_contacts',
      'code from bi_providers',
      'kind from bi_sync_status',
    ])
      await client.query(`select ${read}`);
    expect(
      await valuesOf(
        client,
        `select has_column_privilege('bi_providers', 'code', 'select with grant option')`,
      ),
    ).toEqual([true]);
    await expect(client.query('select id from bi_providers')).rejects.toMatchObject({ code: '42501' });
    await expect(client.query('select id from bi_products')).rejects.toMatchObject({ code: '42501' });
  });

  test('is named with its SQL where a column that it needs changes, and nothing is changed until it is gone', async () => {
    const url = await releasedPostgres();
    const [client, reader] = [await bystander(url), await freshRole(url)];
    await client.query(`
      create schema "Own reports";
      create view mine with (security_barrier = true) as select id, code from bi_clients where code is null or id > 0;
      create view "Own reports"."on mine" as select m.code, c.name from mine m join clients c using (id);
      create materialized view kept as select code, name from bi_clients;
      create unique index kept_code on kept (code);
      create table notes (code text);
      create rule note as on delete to notes do instead update notes set code = (select max(code) from bi_clients);
      create view names as select name from bi_clients;
      create view all_departments as select * from bi_departments;
      grant select on mine to ${reader.name}`);
    const session = await openPostgres(url);
    const before = await schemaOf(client);

    const { message, hint } = await refusal(() => migrate(session, retyped));

    expect(await schemaOf(client)).toEqual(before);
    for (const name of ['public.mine', '"Own reports"."on mine"', 'public.kept', 'note on public.notes'])
      expect(message).toContain(name);
    expect(message).not.toContain('all_departments');
    const [drop, create] = statementsOf(hint);
    await client.query(drop);
    expect(await migrate(session, retyped)).toBe(true);
    await client.query(create);

    expect(await valuesOf(client, 'select code from "Own reports"."on mine"')).toHaveLength(3);
    expect(await valuesOf(client, 'select code from kept')).toHaveLength(3);
    expect(await valuesOf(client, `select to_regclass('public.kept_code')::text`)).toEqual(['kept_code']);
    expect(await valuesOf(client, `select reloptions::text from pg_class where relname = 'mine'`)).toEqual([
      '{security_barrier=true}',
    ]);
    await client.query('delete from notes');
    await client.query(`set session authorization ${reader.name}`);
    expect(await valuesOf(client, 'select code from mine')).toHaveLength(3);
  });

  test('is named, and nothing else is, where a discovered text becomes an id', async () => {
    const url = await releasedPostgres();
    const client = await bystander(url);
    await client.query(`
      alter table products add vendor_id text;
      update fields set field = 'vendor_id', column_type = 'text', wire = 'text'
        where kind = 'products' and field = 'name_en';
      create view vendors as select vendor_id from products;
      create view names as select name from clients`);
    const hinted = KINDS.map((kind) =>
      kind.name === 'products'
        ? { ...kind, hints: [...kind.hints, reference(text('vendor_id'), 'providers')] }
        : kind,
    );

    const { message } = await refusal(async () => migrate(await openPostgres(url), hinted));

    expect(message).toContain('public.vendors');
    expect(message).not.toContain('public.names');
  });

  test('is named, too, where only a view changes, and where it is a function', async () => {
    const url = await releasedPostgres();
    const client = await bystander(url);
    await client.query(`
      create view mine as select fax from bi_clients;
      create function newest() returns setof bi_clients language sql as 'select * from bi_clients limit 1'`);
    const session = await openPostgres(url);

    const { message, hint } = await refusal(() => migrate(session, shorter));

    expect(message).toMatch(/public\.mine.*public\.newest\(\)|public\.newest\(\).*public\.mine/);
    const [drop, create] = statementsOf(hint);
    await client.query(drop);
    expect(await migrate(session, shorter)).toBe(true);
    await client.query(
      /CREATE OR REPLACE FUNCTION.*?\$function\$;/s.exec(create)?.[0] ?? expect.fail(create),
    );
    expect(await valuesOf(client, 'select id from newest()')).toHaveLength(1);
  });

  test('is named as a whole where PostgreSQL refuses a statement for it that nobody foresaw', async () => {
    const url = await releasedPostgres();
    await (await bystander(url)).query('create view mine as select id, code from clients');
    const session = await openPostgres(url);
    const refused = Object.assign(new Error('cannot alter type of a column used by a view or rule'), {
      code: '0A000',
    });
    let statements = 0;
    const refusing: Session = {
      ...session,
      atomically: (work) =>
        session.atomically((tx) => {
          const execute = (statement: string): Promise<void> =>
            ++statements === 60 ? Promise.reject(refused) : tx.execute(statement);
          return work({ ...tx, execute });
        }),
    };

    const { message, hint } = await refusal(() => migrate(refusing, KINDS));

    expect(message).toContain('public.mine');
    expect(hint).toContain('FROM bms_sync.clients');
  });

  test('is put to the same test by every later change of the settings', async () => {
    const url = await releasedPostgres();
    const session = await openPostgres(url);
    await migrate(session, KINDS);
    const client = await bystander(url);
    await client.query(
      'create table fitted (client bi_clients); create view names as select name from bi_clients',
    );

    const { message } = await refusal(() => migrate(session, shorter));

    expect(message).toContain('table public.fitted, public.names');
    expect(await migrate(session, KINDS)).toBe(false);
  });
});

describe('what a user has built on a SQLite mirror of the release before', () => {
  const OWN = `
    create view mine as select id, code, fax from bi_clients;
    create view on_mine as select code from mine;
    create view on_table as select id, code from clients;
    create view broken as select absent from bi_clients;
    create table log (name text);
    create trigger noted after update of name on clients begin insert into log values (new.name); end;`;

  async function withOwn(): Promise<Session> {
    const session = openSqlite(releasedSqlite());
    await session.atomically((tx) => tx.execute(OWN));
    return session;
  }

  const schema = (session: Session): Promise<Row[]> =>
    session.query(sql`select type, name, tbl_name, sql from sqlite_schema order by type, name`);

  test('goes on: views on views and on tables, and triggers', async () => {
    const session = await withOwn();
    const own = (rows: Row[]): Row[] =>
      rows.filter(({ name }) => ['mine', 'on_mine', 'on_table', 'broken', 'noted'].includes(String(name)));
    const before = own(await schema(session));

    await migrate(session, KINDS);

    expect(own(await schema(session))).toEqual(before);
    for (const view of ['mine', 'on_mine', 'on_table'])
      expect(await session.query(sql`select code from ${sql.identifier(view)}`)).toHaveLength(3);
    await session.atomically((tx) => tx.query(sql`update clients set name = 'Noted'`));
    expect(await session.query(sql`select name from log`)).toHaveLength(3);
  });

  test('is named with its SQL where a column that it needs goes, and nothing is changed until it is gone', async () => {
    const session = await withOwn();
    const before = await schema(session);

    const { message, hint } = await refusal(() => migrate(session, shorter));

    expect(await schema(session)).toEqual(before);
    expect(message).toContain('"mine", "on_mine"');
    expect(message).not.toContain('on_table');
    const [drop, create] = statementsOf(hint);
    expect(create).toContain('CREATE VIEW mine as select id, code, fax from bi_clients;');
    await session.atomically((tx) => tx.execute(drop));
    expect(await migrate(session, shorter)).toBe(true);
  });
});
