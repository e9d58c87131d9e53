import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { decimalField, flagField, integerField, jsonField } from '../../../src/catalog/field.ts';
import type { Kind } from '../../../src/catalog/kind.ts';
import { compareRecord } from '../../../src/diff/compare-page.ts';
import { compactJson, parseObject } from '../../../src/lib/json/json.ts';
import { compareElements } from '../../../src/features/verify/compare-list.ts';
import { writeNestedRows } from '../../../src/store/records/nested-rows.ts';
import type { Issue } from '../../../src/store/records/issue-store.ts';
import type { Row, Session } from '../../../src/db/session/session.ts';
import { nestedTables } from '../../../src/store/tables/kind-table.ts';
import { NASTY_VALUES } from '../../support/nasty-values.ts';
import { models, spell, type Model } from '../../support/json-models.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, columnsOf, kindNamed, madeUpKind, putRecords, tempMirror } from '../temp-mirror.ts';

const clients = kindNamed('clients');

/** Stores parents, numbered from 1, whose record has this text; returns the issues of their elements. */
async function put(session: Session, kind: Kind, ...raws: readonly string[]): Promise<Issue[]> {
  const found: Issue[] = [];
  const records = raws.map((raw, index) => ({ id: String(index + 1), record: parseObject(raw) }));
  await session.atomically(async (tx) => {
    found.length = 0;
    for (const { name } of [kind, ...nestedTables(kind)])
      await tx.query(sql`delete from ${sql.identifier(name)}`);
    await putRecords(
      tx,
      kind.name,
      records.map(({ id }) => ({ id, _deleted_at: null })),
    );
    await writeNestedRows(tx, { kind, records, found, now: NOON });
  });
  return found;
}

const contacts = (...wires: readonly string[]): string[] => wires.map((wire) => `{"contacts":${wire}}`);

// prettier-ignore
const COLUMNS = [
  'parent_id', 'position', 'id', 'nom', 'fonction', 'departement', 'email', 'telephone', 'cell', 'fax',
];

const shown = (session: Session, columns: string, view = 'bi_clients_contacts'): Promise<Row[]> =>
  session.query(sql.raw(`select ${columns} from ${view} order by parent_id, position`));

describe.each(DATABASES)('%s: the elements of a documented array', (_name, open) => {
  test('are rows of a typed table, shown under both names', async () => {
    const session = await open();
    const found = await put(
      session,
      clients,
      ...contacts(
        '[{"id":3,"nom":"Anne","fax":null,"cell":1.50},{"nom":"é\\"😀"}]',
        '[]',
        'null',
        '[{"id":"-12","nom":true,"email":"null","extra":1},{"id":9007199254740993,"nom":["a"]}]',
      ),
    );
    const none = { id: null, nom: null, email: null, cell: null, fax: null };
    for (const view of ['bi_clients_contacts', 'client_contacts'])
      expect(await shown(session, 'parent_id, position, id, nom, email, cell, fax', view)).toEqual([
        { ...none, parent_id: 1, position: 0, id: 3, nom: 'Anne', cell: '1.50' },
        { ...none, parent_id: 1, position: 1, nom: 'é"😀' },
        { ...none, parent_id: 4, position: 0, id: -12, nom: 'true', email: 'null' },
        { ...none, parent_id: 4, position: 1, id: '9007199254740993' },
      ]);
    expect(found).toEqual([{ recordId: '4', field: 'contacts[1].nom', code: 'not_text', detail: '["a"]' }]);
  });

  test('those that are no objects have no row and an issue, and those of deleted parents are not shown', async () => {
    const session = await open();
    const found = await put(
      session,
      clients,
      ...contacts('[1,"x",null,[{"id":1}],{"id":2},true]', '[{"id":3}]', '{"no":4}', '"[{}]"'),
    );
    await session.atomically((tx) =>
      tx.query(sql`update clients set _deleted_at = ${NOON_TEXT} where id = 2`),
    );
    expect(await shown(session, 'parent_id, position, id')).toEqual([{ parent_id: 1, position: 4, id: 2 }]);
    const places = found.map(({ field, code }) => [field, code]);
    expect(places).toEqual([
      ...[0, 1, 3, 5].map((at) => [`contacts[${at}]`, 'not_an_object']),
      ...['contacts', 'contacts'].map((field) => [field, 'not_an_array']),
    ]);
    await session.atomically((tx) => tx.query(sql`update clients set _deleted_at = null where id = 2`));
    expect(await shown(session, 'parent_id, id')).toHaveLength(2);
  });

  test('take the place of those of the former content, in one transaction, and only where the array has changed', async () => {
    const session = await open();
    const before = '{"id":1,"code":"A","contacts":[{"id":1},{"id":2}]}';
    const write = async (raw: string): Promise<void> => {
      const record = parseObject(raw);
      const stored = { raw: before, response: 1, isDeleted: false };
      const verdict = compareRecord(clients, stored, { id: '1', raw, record });
      await session.atomically((tx) =>
        writeNestedRows(tx, {
          kind: clients,
          records: [{ id: '1', record, change: verdict }],
          found: [],
          now: NOON,
        }),
      );
    };
    await put(session, clients, before);
    await session.atomically((tx) => tx.query(sql`update clients_contacts set nom = 'kept'`));

    await write('{"id":1,"code":"B","contacts": [{"id":1}, {"id":2}]}');
    expect(await shown(session, 'nom, id')).toEqual([
      { nom: 'kept', id: 1 },
      { nom: 'kept', id: 2 },
    ]);
    await write('{"id":1,"code":"A","contacts":[{"id":2}]}');
    expect(await shown(session, 'nom, id, position')).toEqual([{ nom: null, id: 2, position: 0 }]);
    await write('{"id":1,"code":"A"}');
    expect(await shown(session, 'id')).toEqual([]);
  });

  test('follow an equal array in another spelling, as the record does whose other fields have changed', async () => {
    const session = await open();
    const before = '{"id":1,"code":"A","contacts":[{"id":1,"cell":5}]}';
    const raw = '{"id":1,"code":"B","contacts":[{"id":1,"cell":5.0}]}';
    const record = parseObject(raw);
    const verdict = compareRecord(
      clients,
      { raw: before, response: 1, isDeleted: false },
      { id: '1', raw, record },
    );
    await put(session, clients, before);
    await session.atomically(async (tx) => {
      const records = [{ id: '1', record, verdict }];
      await writeNestedRows(tx, { kind: clients, records, found: [], now: NOON });
      expect(await compareElements(tx, clients, records).next()).toMatchObject({ done: true });
    });
    expect(await shown(session, 'id, cell')).toEqual([{ id: 1, cell: '5.0' }]);
  });

  test('of an array without documented fields are kept as values, and their fields are noted for columns', async () => {
    const session = await open();
    const products = kindNamed('products');
    await put(session, products, '{"medias":[1,"a",{"b":[2],"path":"x","position":7},null,[3],true]}');
    expect(await shown(session, 'position, value', 'bi_products_medias')).toEqual(
      ['1', 'a', '{"b":[2],"path":"x","position":7}', null, '[3]', 'true'].map((value, position) => ({
        position,
        value,
      })),
    );
    expect(await session.query(sql`select field, type from fields where kind = 'products_medias'`)).toEqual([
      { field: 'b', type: 'json' },
      { field: 'path', type: 'text' },
    ]);
  });

  test('are stored exactly or as null, whatever was sent, and every object of an array is a row', async () => {
    const session = await open();
    const names = ['id', 'nom', 'fonction', 'email', 'fax', 'x'];
    const contact = fc
      .uniqueArray(fc.tuple(fc.constantFrom(...names), models), { selector: ([name]) => name })
      .map((object): Model => ({ object }));
    const list = fc.array(fc.oneof(contact, models), { maxLength: 4 }).map((array): Model => ({ array }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(list, models), { minLength: 1, maxLength: 4 }), async (sent) => {
        await put(session, clients, ...contacts(...sent.map((model) => spell(model))));
        const objects = sent.flatMap((model) =>
          'array' in model ? model.array.filter((one) => 'object' in one) : [],
        );
        expect(await shown(session, COLUMNS.join(', '))).toHaveLength(objects.length);
      }),
      { numRuns: 40 },
    );
    const nasty = NASTY_VALUES.map((value) =>
      compactJson({ contacts: [{ id: value, nom: value, fax: value }], medias: [value], variantes: value }),
    );
    await put(session, clients, ...nasty);
    expect(await shown(session, '*')).toHaveLength(NASTY_VALUES.length);
    await put(session, kindNamed('products'), ...nasty);
    expect(await shown(session, '*', 'bi_products_medias')).toHaveLength(NASTY_VALUES.length);
  });
});

describe('numbers of elements', () => {
  const kind = madeUpKind('things', [
    jsonField('parts', [integerField('n'), flagField('f'), decimalField('d', 2)]),
  ]);

  test.each<[string, Row]>([
    ['{"n":"7","f":1,"d":"12.50"}', { n: 7, f: 1, d: 12.5, d_exact: '12.50', d_e4: 125_000 }],
    ['{"n":-7,"f":"0","d":-0.10}', { n: -7, f: 0, d: -0.1, d_exact: '-0.10', d_e4: -1000 }],
    ['{"n":"","f":"yes","d":""}', { n: null, f: null, d: null, d_exact: null, d_e4: null }],
    ['{"n":1.5,"f":true,"d":1e5}', { n: null, f: 1, d: 100_000, d_exact: '100000.00', d_e4: 1_000_000_000 }],
    ['{"n":"1x","f":{},"d":"1.2.3"}', { n: null, f: null, d: null, d_exact: null, d_e4: null }],
    ['{"d":0.123456}', { n: null, f: null, d: 0.123456, d_exact: '0.123456', d_e4: null }],
    ['{}', { n: null, f: null, d: null, d_exact: null, d_e4: null }],
  ])('%s', async (part, expected) => {
    const session = await tempMirror([kind]);
    await put(session, kind, `{"parts":[${part}]}`);
    expect(await shown(session, 'n, f, d, d_exact, d_e4', 'bi_things_parts')).toEqual([expected]);
  });

  test('have the declared types of record fields', async () => {
    const session = await tempMirror([kind]);
    expect(await columnsOf(session, 'bi_things_parts')).toEqual([
      ['parent_id', 'BIGINT'],
      ['position', 'BIGINT'],
      ['n', 'BIGINT'],
      ['f', 'INTEGER'],
      ['d', 'REAL'],
      ['d_exact', 'TEXT'],
      ['d_e4', 'BIGINT'],
    ]);
  });
});
