import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import type { PullReport } from '../../src/pull/sweep/pull-kinds.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { documentedMirror, pullFrom, rewriting, rowsOf, sandbox } from './support.ts';

const kindsNamed = (...names: readonly string[]): readonly ListedKind[] =>
  LISTED_KINDS.filter(({ name }) => names.includes(name));

const pullOf = (service: Sandbox, session: Session, ...names: readonly string[]): Promise<PullReport> =>
  pullFrom(service, session, { request: { kinds: kindsNamed(...names) } });

async function columnTypes(session: Session, kind: string): Promise<Record<string, string>> {
  const rows = await session.query(sql`
    select field, column_type, column_scale from fields where kind = ${kind} and documented = 0 order by position`);
  return Object.fromEntries(
    rows.map(({ field, column_type: type, column_scale: scale }) => [
      String(field),
      `${String(type)}${scale === null ? '' : ` ${String(scale)}`}`,
    ]),
  );
}

async function columnsOf(session: Session, name: string): Promise<string[]> {
  const rows = await session.query(sql`select name from pragma_table_xinfo(${name}) order by cid`);
  return rows.map((row) => String(row['name']));
}

const drift = async (session: Session): Promise<Row[]> =>
  session.query(sql`select kind, code, field, detail from drift order by id`);

const openIssues = async (session: Session): Promise<Row[]> =>
  session.query(sql`select record_id, field, code from issues where closed_at is null order by id`);

const idsOf = ({ world }: Sandbox, kind: string): readonly number[] =>
  [...world.ids(kind)].sort((a, b) => a - b);

const recordsOf = (service: Sandbox, kind: string): JsonObject[] =>
  idsOf(service, kind).map((id) => service.world.get(kind, id) ?? {});

/** Changes a record of a kind: the first, or the one at `place` by id. */
function change(service: Sandbox, kind: string, fields: JsonObject, place = 0): string {
  const id = idsOf(service, kind)[place] ?? 0;
  service.world.update(kind, id, fields);
  return String(id);
}

const BLANK: readonly (Json | undefined)[] = [undefined, null, '', '0000-00-00', '0000-00-00 00:00:00'];

describe('after the first pull', () => {
  test.each(['bookings', 'vehicle_brands', 'products'])(
    'C13: every field of %s is a typed column, filled, and shown',
    async (kind) => {
      const service = await sandbox({ size: 40 });
      const session = await documentedMirror();
      await pullOf(service, session, kind);

      const records = recordsOf(service, kind);
      const rows = await rowsOf(session, kind);
      const shown = await columnsOf(session, `bi_${kind}`);
      const types = await columnTypes(session, kind);
      const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
      const valued = names.filter((name) => records.some((record) => !BLANK.includes(record[name])));
      expect(rows).toHaveLength(records.length);
      for (const name of valued) {
        expect(shown).toContain(name);
        const isText = !/integer|decimal|date|timestamp|flag|time/.test(types[name] ?? 'documented');
        const empty = records.map(
          (record) => BLANK.includes(record[name]) && !(isText && record[name] === ''),
        );
        if (types[name] !== undefined)
          expect([name, rows.map((row) => row[name] === null)]).toEqual([name, empty]);
      }
      expect(await openIssues(session)).toEqual([]);
      expect(await drift(session)).toEqual([]);
    },
  );

  test('types follow the hints where every value fits, and else the values', async () => {
    const service = await sandbox({ size: 40 });
    const session = await documentedMirror();
    const values: Record<string, readonly Json[]> = {
      whole: [1, 2, null],
      upc: ['121313', '121314'],
      either: [5, '7'],
      money: ['1.50', 2],
      day: ['2026-01-01', ''],
      moment: ['2026-01-01 10:00:00'],
      code: ['0042', '7'],
      mixed: ['2026-01-01', 5],
      yes: [true],
      nest: [1, [1, 2.5]],
      empty: [null, ''],
    };
    for (const [name, list] of Object.entries(values))
      list.forEach((value, place) => change(service, 'bookings', { [name]: value }, place));
    change(service, 'bookings', { inactive: 'perhaps', distance: '12.505' });

    await pullOf(service, session, 'bookings');

    expect(await columnTypes(session, 'bookings')).toMatchObject({
      whole: 'integer',
      upc: 'text',
      either: 'text',
      money: 'decimal',
      day: 'date',
      moment: 'timestamp',
      code: 'text',
      mixed: 'text',
      yes: 'text',
      nest: 'json',
      empty: 'text',
      price: 'decimal 2',
      distance: 'decimal 2',
      pickup_date: 'date',
      items: 'json',
      inactive: 'text',
    });
    const [first, second] = await rowsOf(session, 'bookings');
    expect(first).toMatchObject({
      whole: 1,
      upc: '121313',
      either: '5',
      money: '1.5',
      code: '0042',
      mixed: '2026-01-01',
      nest: '1',
    });
    expect(second).toMatchObject({
      whole: 2,
      upc: '121314',
      either: '7',
      money: '2',
      code: '7',
      mixed: '5',
      nest: '[1,2.5]',
    });
    expect(await columnsOf(session, 'bi_bookings')).toContain('empty');
    const [items] = await session.query(sql`select count(*) as n from bi_bookings_items`);
    const sent = recordsOf(service, 'bookings').flatMap((record) => record['items'] as Json[]);
    expect(items).toEqual({ n: sent.length });
  });
});

test('a later misfit is null in its column, which keeps its type, with an issue, and its text stands in a column of its own', async () => {
  const service = await sandbox({ size: 40 });
  const session = await documentedMirror();
  change(service, 'vehicle_brands', { rank: 7 });
  change(service, 'vehicle_brands', { rank: 8 }, 1);
  await pullOf(service, session, 'vehicle_brands');
  const id = change(service, 'vehicle_brands', { rank: 'seven' });

  const report = await pullOf(service, session, 'vehicle_brands');

  expect(report.kinds[0]).toMatchObject({ state: 'certified', updated: 1 });
  const [first, second] = await rowsOf(session, 'vehicle_brands');
  expect([first?.['rank'], second?.['rank']]).toEqual([null, 8]);
  expect([first?.['rank_text'], second?.['rank_text']]).toEqual(['seven', null]);
  expect(String(first?.['_raw'])).toContain('"seven"');
  const shown = await columnsOf(session, 'bi_vehicle_brands');
  expect(shown.at(-1)).toBe('rank_text');
  expect(await openIssues(session)).toEqual([{ record_id: id, field: 'rank', code: 'not_an_integer' }]);
  expect(await columnTypes(session, 'vehicle_brands')).toMatchObject({ rank: 'integer' });
  expect(await drift(session)).toMatchObject([
    { code: 'retyped_field', field: 'rank', detail: 'was sent as number, now number text' },
  ]);

  change(service, 'vehicle_brands', { rank: 9 });
  change(service, 'vehicle_brands', { rank: ['1', 2.5], mood: 'sunny' }, 1);
  await pullOf(service, session, 'vehicle_brands');
  const [mended, nested] = await rowsOf(session, 'vehicle_brands');
  expect(mended).toMatchObject({ rank: 9, rank_text: null });
  expect(nested).toMatchObject({ rank: null, rank_text: '["1",2.5]', mood: 'sunny' });
  expect(await columnsOf(session, 'bi_vehicle_brands')).toEqual([...shown, 'mood']);
  expect(await openIssues(session)).toMatchObject([{ field: 'rank', code: 'not_an_integer' }]);
});

test('what is beside the point of a column adds none: an empty text, more places, a text that no database keeps', async () => {
  const service = await sandbox({ size: 40 });
  const session = await documentedMirror();
  change(service, 'vehicle_brands', { rank: 7, mood: 'sunny' });
  await pullOf(service, session, 'vehicle_brands');
  const shown = await columnsOf(session, 'bi_vehicle_brands');
  change(service, 'vehicle_brands', { rank: '', mood: 'a\0b' });
  change(service, 'bookings', { price: '1.23456' });

  await pullOf(service, session, 'vehicle_brands', 'bookings');

  expect(await columnsOf(session, 'bi_vehicle_brands')).toEqual(shown);
  expect(await columnsOf(session, 'bi_bookings')).not.toContain('price_text');
  expect((await openIssues(session)).map(({ field }) => field).sort()).toEqual(['mood', 'price', 'rank']);
});

test('a field of the service that is called like a column of texts keeps its name, whichever was first', async () => {
  const service = await sandbox({ size: 40 });
  const session = await documentedMirror();
  change(service, 'vehicle_brands', { rank: 7, rank_text: 'own', size: 1 });
  await pullOf(service, session, 'vehicle_brands');
  change(service, 'vehicle_brands', { rank: 'seven', rank_text: 'own', size: 'XL' });
  await pullOf(service, session, 'vehicle_brands');
  change(service, 'vehicle_brands', { rank: 'seven', rank_text: 'mine', size: 'XL', size_text: 'late' });
  await pullOf(service, session, 'vehicle_brands');

  const row = { rank: null, rank_text: 'mine', rank_text_2: 'seven', size: null, size_text: 'XL' };
  expect((await rowsOf(session, 'vehicle_brands'))[0]).toMatchObject(row);
  const notes = (await drift(session)).filter(({ code }) => code !== 'new_field' && code !== 'retyped_field');
  expect(notes).toMatchObject([
    { code: 'text_column', field: 'rank', detail: expect.stringContaining('"rank_text_2"') as string },
    { code: 'unusable_field', field: 'size_text', detail: 'the name "size_text" is taken' },
  ]);
  expect(await session.query(sql`select record_id from changes`)).toHaveLength(2);
});

test('a field first seen later is appended, no column moves, and an analyst’s own view goes on working', async () => {
  const service = await sandbox({ size: 40 });
  const session = await documentedMirror();
  await pullOf(service, session, 'products');
  await session.atomically((tx) =>
    tx.execute('create view mine as select id, code, price, unit from bi_products where price > 0'),
  );
  const question = sql`select * from mine order by id`;
  const shown = await columnsOf(session, 'bi_products');
  const held = await columnsOf(session, 'products');
  const mine = await session.query(question);
  change(service, 'products', { aaa: '1.5', mood: 'sunny' }, 3);
  await pullOf(service, session, 'products');
  change(service, 'products', { aardvark: 1 });
  await pullOf(service, session, 'products');

  expect(await columnsOf(session, 'bi_products')).toEqual([
    ...shown,
    'aaa',
    'aaa_exact',
    'aaa_e4',
    'mood',
    'aardvark',
  ]);
  const heldNow = await columnsOf(session, 'products');
  expect(heldNow.slice(0, held.length)).toEqual(held);
  expect(heldNow.slice(held.length).sort()).toEqual(['aaa', 'aaa_e4', 'aaa_real', 'aardvark', 'mood']);
  expect(await session.query(question)).toEqual(mine);
  const filled = sql`select mood, aaa, aaa_exact from bi_products where mood is not null`;
  expect(await session.query(filled)).toEqual([{ mood: 'sunny', aaa: 1.5, aaa_exact: '1.5' }]);
  expect((await drift(session)).map(({ code, field }) => [code, field])).toEqual([
    ['new_field', 'aaa'],
    ['new_field', 'mood'],
    ['new_field', 'aardvark'],
  ]);
});

test('C12: names that no column can have stay in _raw, with one note each', async () => {
  const honest = await sandbox({ size: 40 });
  const session = await documentedMirror();
  const long = 'x'.repeat(70);
  const [id = 0] = idsOf(honest, 'clients');
  const names = ['Code', 'credit_real', 'CREDIT_E4', 'mood', 'Mood', '_x', '__proto__', 'constructor', long];
  const extra = names.map((name, at) => `"${name}":"v${at}",`).join('');
  const service = await rewriting(honest, (body) => body.replace(`{"id":${id},`, `{"id":${id},${extra}`));

  await pullOf(service, session, 'clients');
  await pullOf(service, session, 'clients');

  const unusable = ['Code', 'credit_real', 'CREDIT_E4', 'Mood', '_x', '__proto__', long];
  const notes = await drift(session);
  expect(notes.map(({ code, field }) => [code, field]).sort()).toEqual(
    unusable.map((field) => ['unusable_field', field]).sort(),
  );
  const rows = await rowsOf(session, 'clients');
  const row = rows.find((candidate) => candidate['id'] === String(id));
  expect(row).toMatchObject({ mood: 'v3', constructor: 'v7' });
  for (const [at, name] of names.entries()) expect(row?.['_raw']).toContain(`"${name}":"v${at}"`);
  expect(await openIssues(session)).toEqual([]);
  expect(rows.filter((other) => other !== row).map((other) => other['constructor'])).toEqual(
    rows.slice(1).map(() => null),
  );
});

describe('what changes in the answers is noted', () => {
  /** A service whose answers a test can change. */
  async function changing(): Promise<{
    service: Sandbox;
    honest: Sandbox;
    set: (next: (body: string) => string) => void;
  }> {
    const honest = await sandbox({ size: 130 });
    let rewrite = (body: string): string => body;
    const service = await rewriting(honest, (body) => rewrite(body));
    return { service, honest, set: (next) => void (rewrite = next) };
  }
  const without = (field: string) => (body: string) =>
    body.replaceAll(new RegExp(`,"${field}":(?:"[^"]*"|null)`, 'g'), '');

  test('a field that vanishes from a complete list, and comes back', async () => {
    const { service, honest, set } = await changing();
    const session = await documentedMirror();
    await pullOf(service, session, 'clients');
    set(without('website'));
    honest.setFaults([{ on: { kind: 'clients', page: 2 }, do: { status: 503 } }]);
    expect((await pullOf(service, session, 'clients')).kinds[0]?.state).toBe('invalid');
    expect(await drift(session)).toEqual([]);
    honest.setFaults([]);
    await pullOf(service, session, 'clients');
    await pullOf(service, session, 'clients');
    expect(await drift(session)).toMatchObject([
      { kind: 'clients', code: 'vanished_field', field: 'website' },
    ]);
    expect(await columnsOf(session, 'bi_clients')).toContain('website');
    const issues = sql`select kind, record_id, field, code from bi_issues`;
    expect(await session.query(issues)).toEqual([
      { kind: 'clients', record_id: null, field: 'website', code: 'vanished_field' },
    ]);

    set((body) => body);
    await pullOf(service, session, 'clients');
    expect(await session.query(issues)).toEqual([]);
    await pullOf(service, session, 'clients');
    expect(await drift(session)).toMatchObject([
      { code: 'vanished_field' },
      { code: 'returned_field', field: 'website' },
    ]);
  });

  test('an empty list has no fields, and none has vanished', async () => {
    const service = await sandbox({ size: 10 });
    const session = await documentedMirror();
    await pullOf(service, session, 'departments');
    for (const id of service.world.ids('departments')) service.world.remove('departments', id);
    expect((await pullOf(service, session, 'departments')).kinds[0]).toMatchObject({
      reason: 'absences_unproven',
      rows: 0,
    });
    expect(await drift(session)).toEqual([]);
  });

  test('a new field that a broken-off sweep was the first to show', async () => {
    const service = await sandbox({ size: 130 });
    const session = await documentedMirror();
    await pullOf(service, session, 'clients');
    for (const place of idsOf(service, 'clients').keys())
      change(service, 'clients', { mood: 'sunny', city: place }, place);
    service.setFaults([{ on: { kind: 'clients', page: 2 }, do: { status: 503 } }]);
    expect((await pullOf(service, session, 'clients')).kinds[0]).toMatchObject({
      state: 'invalid',
      updated: expect.any(Number) as number,
    });
    service.setFaults([]);
    await pullOf(service, session, 'clients');
    expect((await drift(session)).map(({ code, field }) => [code, field]).sort()).toEqual([
      ['new_field', 'mood'],
      ['retyped_field', 'city'],
    ]);
  });

  test('a new field without a value, which changes no record', async () => {
    const service = await sandbox({ size: 12 });
    const session = await documentedMirror();
    await pullOf(service, session, 'departments');
    change(service, 'departments', { mood: null });
    expect((await pullOf(service, session, 'departments')).kinds[0]).toMatchObject({ updated: 0 });
    expect(await drift(session)).toEqual([
      { kind: 'departments', code: 'new_field', field: 'mood', detail: 'sent as null' },
    ]);
  });

  test('another envelope', async () => {
    const { service, set } = await changing();
    const session = await documentedMirror();
    await pullOf(service, session, 'departments');
    set((body) => body.replace(/,"success":true\}$/, ',"success":true,"notice":"moved"}'));
    await pullOf(service, session, 'departments');
    await pullOf(service, session, 'departments');
    expect(await drift(session)).toEqual([
      {
        kind: 'departments',
        code: 'envelope',
        field: null,
        detail: 'was data meta success, now data meta notice success',
      },
    ]);
  });

  test('another page size', async () => {
    const service = await sandbox({ size: 130 });
    const session = await documentedMirror();
    await pullOf(service, session, 'clients');
    service.setFaults([{ on: { kind: 'clients' }, do: { clampPerPage: 20 } }]);
    await pullOf(service, session, 'clients');
    await pullOf(service, session, 'clients');
    expect(await drift(session)).toMatchObject([
      {
        kind: 'clients',
        code: 'page_size',
        field: null,
        detail: expect.stringMatching(/^was \d+, now 20$/) as string,
      },
    ]);
  });
});
