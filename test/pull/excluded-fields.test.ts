import { TABLE_OWNERS } from '../../src/feature-hooks.ts';
import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { excludeFields } from '../../src/catalog/exclude.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { readMirroredKind } from '../../src/store/kinds/field-store.ts';
import { migrate } from '../../src/views/migrate.ts';
import { redecode } from '../../src/store/schema/redecode.ts';
import { removeExcluded } from '../../src/store/schema/remove-excluded.ts';
import type { Session } from '../../src/db/session/session.ts';
import { readTexts } from '../../src/db/rows/rows.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { NOON, NOON_TEXT } from '../store/temp-mirror.ts';
import { placesOf } from '../support/places-of.ts';
import { DOCUMENTED_MIRRORS } from './steps.ts';
import { pullFrom, rewriting, sandbox } from './support.ts';

const EXCLUDED: Readonly<Record<string, readonly string[]>> = {
  clients: ['email', 'contacts', 'credit', 'mood'],
  products: ['variantes', 'cost'],
};
const kinds = LISTED_KINDS.filter(({ name }) => name in EXCLUDED);
const excluding: readonly ListedKind[] = kinds.map((kind) => excludeFields(kind, EXCLUDED[kind.name] ?? []));

const pullOf = (service: Sandbox, session: Session, wanted: readonly ListedKind[]) =>
  pullFrom(service, session, { request: { kinds: wanted } });

const SECRETS = ['hidden@example.test', 'Zoé Hidden', '98765.43', 'gloomy', 'HIDDEN-V', '55.5555'];

/** Gives records values that must not land. */
function hide({ world }: Sandbox): { readonly client: number } {
  const [client = 0] = world.ids('clients');
  world.update('clients', client, {
    email: 'hidden@example.test',
    credit: '98765.43',
    mood: 'gloomy',
    contacts: [{ id: 1, nom: 'Zoé Hidden' }],
  });
  const [product = 0] = world.ids('products');
  world.update('products', product, { variantes: [{ code: 'HIDDEN-V' }], cost: '55.5555' });
  return { client };
}

const events = (session: Session) =>
  session.query(sql`select kind, change, fields from changes order by seq`);

describe.each(Object.entries(DOCUMENTED_MIRRORS))('%s', (_name, open) => {
  test('an excluded field never lands, and a change in it is no event', async () => {
    const service = await sandbox({ size: 12 });
    const session = await open();
    const { client } = hide(service);
    await migrate(session, excluding);
    await pullOf(service, session, excluding);
    await pullOf(service, session, excluding);
    expect(await placesOf(session, SECRETS)).toEqual([]);
    expect(await readTexts(session, sql`select count(*) from clients`)).toEqual([
      String(service.world.count('clients')),
    ]);

    service.world.update('clients', client, { email: 'other@example.test', mood: 'sunny' });
    await pullOf(service, session, excluding);
    expect(await events(session)).toEqual([]);
    service.world.update('clients', client, { email: 'hidden@example.test', city: 'Alma' });
    await pullOf(service, session, excluding);
    expect(await events(session)).toMatchObject([{ kind: 'clients', change: 'updated' }]);
    expect(await placesOf(session, SECRETS)).toEqual([]);
    const columns = await session.query(sql`select * from bi_clients limit 1`);
    expect(columns[0]?.['email']).toBeNull(); // The view keeps the column for what reads it.
  });

  test('naming a field later removes it from rows, nested tables, events, issues and the outbox', async () => {
    const service = await sandbox({ size: 12 });
    const session = await open();
    const { client } = hide(service);
    await pullOf(service, session, kinds);
    await pullOf(service, session, kinds);
    service.world.update('clients', client, {
      email: 'hidden@example.test2',
      city: 'Alma',
      credit: 'x98765.43',
    });
    await pullOf(service, session, kinds);
    await putEntries(session, client);
    expect((await placesOf(session, SECRETS)).length).toBeGreaterThan(12);

    const progress: number[] = [];
    await migrate(session, excluding);
    await removeExcluded(session, excluding, TABLE_OWNERS, { onProgress: ({ rows }) => progress.push(rows) });
    for (const kind of excluding)
      await redecode(session, await readMirroredKind(session, kind), { now: NOON });
    expect(progress.length).toBeGreaterThan(0);
    const left = (await placesOf(session, SECRETS)).filter((place) => !/outbox/.test(place));
    expect(left).toEqual([]);
    const entries = await session.query(
      sql`select idempotency_key as key, state, payload, base from outbox order by id`,
    );
    expect(entries).toEqual([
      { key: 'done', state: 'done', payload: '{"city":"Alma"}', base: '{"id":1}' },
      { key: 'rejected', state: 'abandoned', payload: '{}', base: null },
      { key: 'open', state: 'parked', payload: '{"email":"hidden@example.test"}', base: null },
      { key: 'other', state: 'parked', payload: '{"city":"Alma"}', base: '{"id":1}' },
    ]);
    const attempts = await session.query(sql`select request, response_start from outbox_attempts`);
    expect(attempts).toEqual([{ request: 'PUT /api/clients/1\n{"city":"Alma"}', response_start: null }]);

    const before = await events(session);
    expect(before).toMatchObject([
      { change: 'updated', fields: '{"city":["' + cityOf(before) + '","Alma"]}' },
    ]);
    await pullOf(service, session, excluding);
    expect(await events(session)).toEqual(before);

    await session.atomically((tx) => tx.query(sql`update outbox set state = 'done' where state = 'parked'`));
    await removeExcluded(session, excluding, TABLE_OWNERS);
    expect(await placesOf(session, SECRETS)).toEqual([]);
    await session.close();
    const file = session.dialect === 'sqlite' ? readFileSync(session.location, 'latin1') : '';
    expect(SECRETS.filter((secret) => file.includes(Buffer.from(secret).toString('latin1')))).toEqual([]);
  });

  test('allowing a field again fills its column without an event for its name alone', async () => {
    const service = await sandbox({ size: 12 });
    const session = await open();
    const { client } = hide(service);
    const [, other = 0] = service.world.ids('clients');
    await migrate(session, excluding);
    await removeExcluded(session, excluding, TABLE_OWNERS);
    await pullOf(service, session, excluding);
    await pullOf(service, session, excluding);
    await migrate(session, kinds);
    await removeExcluded(session, kinds, TABLE_OWNERS);
    await pullOf(service, session, excluding); // By a serve that has the former settings still.
    service.world.update('clients', other, { city: 'Alma', email: 'new@example.test' });
    await pullOf(service, session, kinds);
    await pullOf(service, session, kinds);
    expect(await readTexts(session, sql`select email from clients where id = ${client}`)).toEqual([
      'hidden@example.test',
    ]);
    const [moved] = await events(session);
    expect(await events(session)).toEqual([
      { kind: 'clients', change: 'updated', fields: moved?.['fields'] },
    ]);
    expect(Object.keys(JSON.parse(String(moved?.['fields'])) as object)).toEqual(['city']);

    service.world.update('clients', client, { email: 'other@example.test' });
    await pullOf(service, session, kinds);
    expect((await events(session)).slice(1)).toMatchObject([
      { change: 'updated', fields: '{"email":["hidden@example.test","other@example.test"]}' },
    ]);
  });
});

const cityOf = (rows: readonly Readonly<Record<string, unknown>>[]): string =>
  /\["([^"]*)"/.exec(String(rows[0]?.['fields']))?.[1] ?? '';

async function putEntries(session: Session, client: number): Promise<void> {
  const entry = (key: string, state: string, payload: string, base: string | null) => sql`
    insert into outbox (idempotency_key, kind, operation, record_id, state, payload, base)
    values (${key}, 'clients', 'update', ${String(client)}, ${state}, ${payload}, ${base})`;
  const email = '"email":"hidden@example.test"';
  await session.atomically(async (tx) => {
    await tx.query(entry('done', 'done', `{"city":"Alma",${email}}`, `{"id":1,${email}}`));
    await tx.query(entry('rejected', 'rejected', `{${email}}`, null));
    await tx.query(entry('open', 'parked', `{${email}}`, null));
    await tx.query(entry('other', 'parked', '{"city":"Alma"}', `{"id":1,${email}}`));
    await tx.query(sql`
      insert into outbox_attempts (outbox_id, n, opened_at, request, response_start)
      select id, 1, ${NOON_TEXT}, ${`PUT /api/clients/1\n{"city":"Alma",${email}}`}, ${`{"id":1,${email},"na`}
      from outbox where idempotency_key = 'done'`);
  });
}

test('a garbled answer of such a kind is reported without a word of it', async () => {
  const service = await sandbox({ size: 12 });
  const session = await DOCUMENTED_MIRRORS.SQLite();
  hide(service);
  const garbled = await rewriting(service, (body, path) =>
    path.startsWith('/api/clients') ? `{"data":[{"email":"hidden@example.test"` : body,
  );
  const { kinds: reports } = await pullOf(garbled, session, excluding);
  expect(reports.find(({ kind }) => kind === 'clients')).toMatchObject({ state: 'invalid' });
  expect(JSON.stringify(reports)).not.toContain('hidden@');
  expect(await placesOf(session, SECRETS)).toEqual([]);
});

test('an item of a list that is no record is reported without an excluded value', async () => {
  const service = await sandbox({ size: 12 });
  const session = await DOCUMENTED_MIRRORS.SQLite();
  const wrapped = await rewriting(service, (body, path) => {
    if (!path.startsWith('/api/clients')) return body;
    const { data, ...beside } = JSON.parse(body) as { data: object[] };
    const email = 'hidden@example.test';
    return JSON.stringify({ data: [{ client: { email } }, email, [email], ...data], ...beside });
  });
  await pullOf(wrapped, session, excluding);
  expect(await readTexts(session, sql`select detail from issues where record_id is null`)).not.toEqual([]);
  expect(await placesOf(session, SECRETS)).toEqual([]);
});
