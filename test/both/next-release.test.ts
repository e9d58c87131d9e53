import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { decimalField, textField } from '../../src/catalog/field.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import { THIS_RELEASE, checkSchema, migrate, type Release } from '../../src/views/migrate.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import { mirrorFault, putRecords, tempMirror, thrownBy } from '../store/temp-mirror.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { bystander, freshDatabaseUrl, freshRole } from '../support/postgres.ts';
import { dyingAt, postgresMirror } from './support.ts';

interface Database {
  /** What names of readers' own views begin with: our connections look into the schema of our tables first. */
  readonly place: string;
  readonly open: () => Promise<Session>;
  /** Every table and view with its definition. */
  readonly schemaOf: (session: Session) => Promise<Row[]>;
}

const SQLITE: Database = {
  place: '',
  open: () => tempMirror(),
  schemaOf: (session) => session.query(sql`select type, name, sql from sqlite_schema order by type, name`),
};

const POSTGRES: Database = {
  place: 'public.',
  open: async () => (await postgresMirror('template_all_kinds')).session,
  schemaOf: (session) =>
    session.query(sql`
      select relname, relkind, relacl::text, attname, atttypid, attnum
      from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute on attrelid = c.oid
      where nspname !~ '^pg_|^information_schema' and not attisdropped order by nspname, relname, attnum`),
};

const DATABASES: readonly (readonly [name: string, database: Database])[] = [
  ['SQLite', SQLITE],
  ['PostgreSQL', POSTGRES],
];

/** A release after this one: an engine table loses a column and gets one, clients have a further field in their middle. */
function nextRelease(): Release {
  const migrations = join(tempFolder(), 'migrations');
  cpSync(THIS_RELEASE.migrations, migrations, { recursive: true });
  for (const dialect of ['sqlite', 'postgres']) {
    const statements = [
      'alter table erasures add column note text',
      'alter table erasures drop column erased_by',
    ];
    writeFileSync(join(migrations, dialect, '0099_next.sql'), statements.join(';--> statement-breakpoint\n'));
    const path = join(migrations, dialect, 'meta/_journal.json');
    const journal = JSON.parse(readFileSync(path, 'utf8')) as { entries: unknown[] };
    journal.entries.push({
      idx: 99,
      version: '7',
      when: 4_000_000_000_000,
      tag: '0099_next',
      breakpoints: true,
    });
    writeFileSync(path, JSON.stringify(journal));
  }
  return { version: THIS_RELEASE.version + 1, name: '99.0.0', migrations };
}

const inClients = (change: (kind: Kind) => Kind): readonly Kind[] =>
  KINDS.map((kind) => (kind.name === 'clients' ? change(kind) : kind));

const longer = inClients((kind) => ({
  ...kind,
  fields: [...kind.fields.slice(0, 2), textField('motto'), ...kind.fields.slice(2)],
}));
const retyped = inClients((kind) => ({
  ...kind,
  fields: kind.fields.map((field) => (field.name === 'fax' ? decimalField('fax', 2) : field)),
}));
const shorter = inClients((kind) => ({ ...kind, fields: kind.fields.filter(({ name }) => name !== 'fax') }));

/** A mirror of this release with a client, an entry, and a view of a reader's own. */
async function filledMirror({ open, place }: Database): Promise<Session> {
  const session = await open();
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [{ id: '1', code: 'A', fax: '1-2' }]);
    await tx.query(sql`
      insert into outbox (idempotency_key, kind, operation, payload) values ('waits', 'clients', 'create', '{}')`);
    await tx.execute(`create view ${place}mine as select id, code, fax from bi_clients`);
  });
  return session;
}

describe.each(DATABASES)('the next release on %s', (_name, database) => {
  test('G12: brings the mirror to its shape once, and keeps rows, entries and a reader’s view; this one then refuses it', async () => {
    const session = await filledMirror(database);
    const release = nextRelease();
    expect(await checkSchema(session, longer, { release })).toBe('of an older release');

    expect(await migrate(session, longer, { release })).toBe(true);
    expect(await migrate(session, longer, { release })).toBe(false);

    expect(await session.query(sql`select id, code, motto from bi_clients`)).toEqual([
      { id: 1, code: 'A', motto: null },
    ]);
    expect(await session.query(sql`select * from mine`)).toEqual([{ id: 1, code: 'A', fax: '1-2' }]);
    expect(await session.query(sql`select idempotency_key, state from outbox`)).toEqual([
      { idempotency_key: 'waits', state: 'ready' },
    ]);
    expect(await session.query(sql`select note from erasures`)).toEqual([]);
    const columns = await session.atomically((tx) => tx.listColumns('bi_clients'));
    expect([...columns].at(-1)).toBe('motto');

    const before = await database.schemaOf(session);
    expect(await mirrorFault(() => migrate(session, KINDS))).toBe('mirror.newer');
    expect(await mirrorFault(() => checkSchema(session, KINDS))).toBe('mirror.newer');
    expect(await database.schemaOf(session)).toEqual(before);
  });

  test('G12: dying at any step leaves what was there, and the next start finishes it', async () => {
    const session = await filledMirror(database);
    const release = nextRelease();
    const before = await database.schemaOf(session);
    for (const step of [1, 3, 5, 8, 20, 40]) {
      await expect(migrate(dyingAt(session, step), longer, { release }), `step ${step}`).rejects.toThrow(
        'killed',
      );
      expect(await database.schemaOf(session), `step ${step}`).toEqual(before);
    }
    expect(await migrate(session, longer, { release })).toBe(true);
    expect(await session.query(sql`select * from mine`)).toHaveLength(1);
  });
});

test.each(DATABASES)('a reader’s view on %s goes on without a column that goes', async (_name, database) => {
  const session = await filledMirror(database);
  expect(await migrate(session, shorter)).toBe(true);
  const mine = sql.raw(`select id, code, fax from ${database.place}mine`);
  expect(await session.query(mine)).toEqual([{ id: expect.anything() as unknown, code: 'A', fax: null }]);
});

describe('what users have built on a PostgreSQL mirror', () => {
  test('is named where it needs a column that changes its type, and nothing is changed until it is gone', async () => {
    const session = await filledMirror(POSTGRES);
    const before = await POSTGRES.schemaOf(session);

    const refused = await thrownBy(() => migrate(session, retyped));

    expect(refused).toMatchObject({ code: 'mirror.blocked_by_view' });
    expect(String(refused)).toContain('view mine depends on view bi_clients');
    expect(await POSTGRES.schemaOf(session)).toEqual(before);
    await session.atomically((tx) => tx.execute('drop view mine'));
    expect(await migrate(session, retyped)).toBe(true);
  });

  test('goes on with its rights where a view only grows', async () => {
    const { url, session: empty } = await postgresMirror('template_all_kinds');
    const session = await filledMirror({ ...POSTGRES, open: () => Promise.resolve(empty) });
    const role = await freshRole(url);
    await session.atomically((tx) => tx.execute(`grant select on bi_clients, mine to "${role.name}"`));
    await migrate(session, longer);
    const reader = await bystander(role.url);
    expect((await reader.query('select code, motto from public.bi_clients')).rows).toHaveLength(1);
    expect((await reader.query('select code from public.mine')).rows).toHaveLength(1);
    await expect(reader.query('select id from public.bi_products')).rejects.toMatchObject({ code: '42501' });
  });
});

describe('PostgreSQL keeps tables in bms_sync and views in public', () => {
  test('and its own user finds both by their short names, and makes what it makes where it went before', async () => {
    const url = await freshDatabaseUrl();
    const session = await openPostgresSession(url);
    onTestFinished(() => session.close());
    await migrate(session, KINDS);
    const relations = await session.query(sql`
      select distinct nspname || ' ' || relkind::text as place from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname !~ '^pg_|^information_schema' order by 1`);
    expect(relations.map(({ place }) => place).sort()).toEqual([
      'bms_sync S',
      'bms_sync i',
      'bms_sync r',
      'public v',
    ]);
    const client = await bystander(url);
    await client.query('create table mine as select id from clients');
    expect((await client.query('select * from public.mine')).rows).toEqual([]);
  });

  test('and takes no table or view of a user’s own for its own', async () => {
    const url = await freshDatabaseUrl();
    const client = await bystander(url);
    await client.query(`create table clients (name text); insert into clients values ('of mine')`);
    const session = await openPostgresSession(url);
    onTestFinished(() => session.close());
    await client.query('create view bi_clients as select 1 as id');
    expect(await mirrorFault(() => migrate(session, KINDS))).toBe('mirror.not_ours');
    await client.query('drop view bi_clients');
    expect(await migrate(session, KINDS)).toBe(true);
    expect((await client.query('select * from public.clients')).rows).toEqual([{ name: 'of mine' }]);
  });
});
