import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/catalog.ts';
import { discoverColumns } from '../../../src/mirror/shape/discover-columns.ts';
import { identifier } from '../../../src/mirror/session/sql-text.ts';
import { migrate } from '../../../src/mirror/shape/migrate.ts';
import type { Session } from '../../../src/mirror/session/session.ts';
import { bystander, freshDatabaseUrl, freshRole } from '../../support/postgres.ts';
import { openForTest } from '../postgres-mirror.ts';
import { releasedPostgres } from '../released-mirror.ts';
import { NOON, kindNamed, tempMirror } from '../temp-mirror.ts';

/** What PostgreSQL itself gives where a view takes no writes. */
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
  const url = await releasedPostgres();
  const owner = await freshRole(url);
  const admin = await bystander(url);
  await admin.query(`
    grant create on database ${new URL(url).pathname.slice(1)} to ${owner.name}; grant create on schema public to ${owner.name}`);
  const { rows } = await admin.query<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'v') and relnamespace = 'public'::regnamespace`,
  );
  for (const { name } of rows) await admin.query(`alter table ${identifier(name)} owner to ${owner.name}`);
  const session = await openForTest(owner.url);
  await migrate(session, KINDS);
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
          hint: expect.stringContaining('bms-sync push') as unknown,
        });
  expect(await session.query(sql`select id from bi_clients`)).toHaveLength(3);
});

test('PostgreSQL: a view that is made later refuses them, too', async () => {
  const session = await openForTest(await freshDatabaseUrl());
  await migrate(session, KINDS);
  await session.atomically((tx) =>
    tx.query(sql`
      insert into fields (kind, field, documented, type, fits_hint, wire, position, first_seen_at)
      values ('clients', 'pets', 0, 'json', 0, 'array', 99, ${NOON.toISOString()})`),
  );
  await discoverColumns(session, kindNamed('clients'), NOON);
  await expect(session.atomically((tx) => tx.query(sql`delete from bi_clients_pets`))).rejects.toMatchObject({
    code: REFUSED,
  });
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
