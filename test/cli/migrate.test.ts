import Sqlite from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { kindNamed } from '../store/temp-mirror.ts';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { saveFields } from '../../src/store/kinds/field-store.ts';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { document, run, type Env } from '../support/command-line.ts';
import { FRESH_DATABASES } from '../support/fresh-databases.ts';
import { bytesOf } from '../support/mirror-file.ts';
import { freshMirror } from '../support/temp-folder.ts';

/** The views that a reporting tool finds. */
async function viewsOf(env: Env): Promise<readonly string[]> {
  await using session = await openSession(String(env['DATABASE_URL']));
  const isSqlite = String(env['DATABASE_URL']).startsWith('file:');
  const rows = await session.query(
    isSqlite
      ? sql`select name from sqlite_schema where type = 'view' and name not in ('sync_status_now', 'price_changes_now', 'statuses_now')`
      : sql`select viewname as name from pg_views where schemaname = 'public'`,
  );
  const names = rows.map(({ name }) => String(name)).sort();
  for (const name of names) await session.query(sql`select * from ${sql.identifier(name)}`);
  return names;
}

test('migrate makes the same views on both databases, readable before the first pull', async () => {
  const [onSqlite, onPostgres] = await Promise.all(
    FRESH_DATABASES.map(async ([, place]) => {
      const env = { DATABASE_URL: await place() };
      expect(await run(['migrate'], env)).toMatchObject({ code: 0 });
      return await viewsOf(env);
    }),
  );

  expect(onSqlite).toEqual(onPostgres);
  const kinds = LISTED_KINDS.flatMap(({ name }) => [
    `bi_${name}`,
    `bi_${name}_history`,
    `bi_deleted_${name}`,
  ]);
  const nested = ['bi_bookings_items', 'bi_clients_contacts', 'bi_projects_tasks'];
  const engine = ['bi_changes', 'bi_dictionary', 'bi_issues', 'bi_relations', 'bi_sync_status'];
  expect(onSqlite).toEqual(expect.arrayContaining([...kinds, ...nested, ...engine]));
  expect(onSqlite).not.toContain('bi_sales_products');
});

const excluding = (env: Env, exclude: Readonly<Record<string, readonly string[]>>): Env => ({
  ...env,
  BMS__PRIVACY__EXCLUDE: JSON.stringify(exclude),
});

const EMAIL = 'a@example.test';

async function putDelivery(session: Session): Promise<void> {
  const delivery = (kind: string, body: string, answer: string) => sql`
    insert into webhook_deliveries (endpoint_id, webhook_id, type, kind, body, response_start)
    values (1, 'msg_1', 'entry.parked', ${kind}, ${body}, ${answer})`;
  await session.atomically(async (tx) => {
    await tx.query(delivery('clients', `{"data":{"kind":"clients","email":"${EMAIL}"}}`, `got ${EMAIL}`));
    await tx.query(delivery('products', '{"data":{"email":"other"}}', 'thanks'));
  });
}

const bytesIn = (url: string): string => bytesOf(url.replace('file:', '')).toString('latin1');

/** A mirror with an address, which a reader in a transaction keeps in the file. */
async function readMirror() {
  const path = freshMirror();
  const env = { DATABASE_URL: `file:${path}` };
  await run(['migrate'], env);
  await using session = await openSession(env.DATABASE_URL);
  await session.atomically((tx) =>
    tx.query(sql`
      insert into clients (id, email, _raw, _first_seen_at, _changed_at, _response)
      values (1, ${EMAIL}, ${`{"id":1,"email":"${EMAIL}"}`}, '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', 1)`),
  );
  const reader = new Sqlite(path, { readonly: true });
  onTestFinished(() => void reader.close());
  reader.exec('begin');
  expect(reader.prepare('select email from clients').pluck().get()).toBe(EMAIL);
  return { env, reader, without: excluding(env, { clients: ['email'] }) };
}

test('migrate says that a reader keeps a removed field in the file, and clears it once the reader is gone', async () => {
  const { env, reader, without } = await readMirror();

  const busy = await run(['migrate'], without);

  expect(busy).toMatchObject({ code: 3 });
  expect(busy.stdout).toContain('Another process used the file');
  expect(bytesIn(env.DATABASE_URL)).toContain(EMAIL);
  expect(document(await run(['migrate', '--json'], without))).toMatchObject({
    excluded: { scrubbed: false },
  });
  reader.exec('commit');
  expect(document(await run(['migrate', '--json'], without))).toMatchObject({ excluded: { scrubbed: true } });
  expect(bytesIn(env.DATABASE_URL)).not.toContain(EMAIL);
  expect(document(await run(['migrate', '--json'], without))).not.toHaveProperty('excluded');
});

test('migrate clears the file of a removed field once the reader is gone, also if nothing is excluded any more', async () => {
  const { env, reader, without } = await readMirror();
  await run(['migrate'], without);
  const ending = excluding(env, { clients: [] });
  for (const attempt of ['first', 'second'])
    expect(document(await run(['migrate', '--json'], ending)), attempt).toMatchObject({
      excluded: { scrubbed: false },
    });
  expect(bytesIn(env.DATABASE_URL)).toContain(EMAIL);

  reader.exec('commit');

  expect(document(await run(['migrate', '--json'], env))).toMatchObject({ excluded: { scrubbed: true } });
  expect(bytesIn(env.DATABASE_URL)).not.toContain(EMAIL);
  expect(document(await run(['migrate', '--json'], env))).not.toHaveProperty('excluded');
});

describe.each(FRESH_DATABASES)('migrate in %s', (_name, place) => {
  test('refuses an excluded field that nobody knows, and takes one that the mirror has seen', async () => {
    const env = { DATABASE_URL: await place() };
    const wrong = await run(['migrate'], excluding(env, { clients: ['mail'] }));
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('privacy.exclude.clients has mail');
    expect(wrong.stderr).toContain('did you mean email?');

    expect(document(await run(['migrate', '--json'], env))).toMatchObject({ migrated: true });
    const unseen = excluding(env, { clients: ['mood'] });
    expect(await run(['migrate'], unseen)).toMatchObject({ code: 2 });
    await using session = await openSession(env.DATABASE_URL);
    const fields = new Map([['mood', { type: 'text', wire: 'text', fitsHint: false }]] as const);
    await session.atomically((tx) => saveFields(tx, kindNamed('clients'), fields, new Date()));
    for (const migrated of [true, false])
      expect(document(await run(['migrate', '--json'], unseen))).toMatchObject({ migrated });
  });

  test('leaves no value of a field that is named later in a key, an answer, an issue or an old detail', async () => {
    const env = { DATABASE_URL: await place() };
    await run(['migrate'], env);
    await using session = await openSession(env.DATABASE_URL);
    const put = async (state: string, payload: string, answer: string): Promise<void> => {
      await session.atomically(async (tx) => {
        const key = `${state} ${payload}`;
        const naturalKey = `[["email","${EMAIL}"],["name","A"]]`;
        await tx.query(sql`
          insert into outbox (idempotency_key, kind, operation, payload, state, natural_key, result)
          values (${state}, 'clients', 'create', ${payload}, ${state}, ${naturalKey}, ${JSON.stringify({ status: 422, answer })})`);
        await tx.query(sql`
          insert into outbox_attempts (outbox_id, n, opened_at, request, response_start)
          select id, 1, created_at, ${`POST /api/clients\n${payload}`}, ${answer} from outbox where idempotency_key = ${state}`);
        await tx.query(sql`
          insert into issues (kind, code, detail, first_seen_at)
          values ('clients', 'not_a_record', ${JSON.stringify([key, EMAIL])}, '2026-01-01 00:00:00.000')`);
      });
    };
    await put('rejected', `{"name":"A","email":"${EMAIL}"}`, `${EMAIL} is no address`);
    await put('done', '{"name":"A"}', `{"message":"a mail went to ${EMAIL}"}`);
    await session.atomically((tx) =>
      tx.query(sql`
        insert into run_kinds (run_id, kind, state, detail, pages, "rows", created, updated, deleted, restored, unchanged,
          quarantined, requests, retries, started_at, duration_ms)
        values (9, 'clients', 'invalid', ${`got {"data":"${EMAIL}`}, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, '2026-01-01 00:00:00.000', 1)`),
    );

    expect(await run(['migrate'], excluding(env, { clients: ['email'] }))).toMatchObject({ code: 0 });

    for (const table of ['outbox', 'outbox_attempts', 'issues', 'run_kinds'])
      expect(
        JSON.stringify(
          await session.query(sql`select * from ${sql.identifier(table)}`),
          (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one),
        ),
        table,
      ).not.toContain('a@example');
    expect(await session.query(sql`select state, natural_key from outbox order by id`)).toEqual([
      { state: 'abandoned', natural_key: '[["name","A"]]' },
      { state: 'done', natural_key: '[["name","A"]]' },
    ]);
  });

  test('removes what the mirror holds of a field that is named later', async () => {
    const env = { DATABASE_URL: await place() };
    await run(['migrate'], env);
    await using session = await openSession(env.DATABASE_URL);
    await session.atomically((tx) =>
      tx.query(sql`
        insert into clients (id, code, email, _raw, _first_seen_at, _changed_at, _response)
        values (1, 'A', 'a@example.test', '{"id":1,"code":"A","email":"a@example.test"}',
          '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000', 1)`),
    );
    await putDelivery(session);

    const ended = await run(['migrate', '--json'], excluding(env, { clients: ['email'] }));

    expect(ended.code).toBe(0);
    const scrubbed = session.dialect === 'sqlite' ? true : null;
    expect(document(ended)).toMatchObject({ excluded: { scrubbed } });
    expect(
      await session.query(sql`select kind, body, response_start from webhook_deliveries order by kind`),
    ).toEqual([
      { kind: 'clients', body: '{"data":{"kind":"clients"}}', response_start: null },
      { kind: 'products', body: '{"data":{"email":"other"}}', response_start: 'thanks' },
    ]);
    expect(await session.query(sql`select email, _raw from clients`)).toEqual([
      { email: null, _raw: '{"id":1,"code":"A"}' },
    ]);
  });
});
