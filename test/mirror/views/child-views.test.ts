import fc from 'fast-check';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { decimal, flag, integer, json } from '../../../src/catalog/field.ts';
import { decodeField } from '../../../src/diff/decode-record.ts';
import { parseJson } from '../../../src/lib/json/json.ts';
import type { Row, Session } from '../../../src/mirror/session/session.ts';
import { spell, models } from '../../support/json-models.ts';
import type { Model } from '../../support/json-models.ts';
import { NOON_TEXT, columnsOf, madeUpKind, putRecords, tempMirror } from '../temp-mirror.ts';

const contacts = json('contacts');
const stored = (wire: string): string | null =>
  decodeField(contacts, parseJson(wire), () => undefined) as string | null;

const put = (session: Session, ...wires: readonly string[]): Promise<void> =>
  session.atomically(async (tx) => {
    await tx.query(sql`delete from clients`);
    await putRecords(
      tx,
      'clients',
      wires.map((wire, index) => ({ id: String(index + 1), contacts: stored(wire) })),
    );
  });

const COLUMNS = [
  ...['parent_id', 'position', 'id', 'nom', 'fonction', 'departement', 'email', 'telephone', 'cell', 'fax'],
];

describe('the elements of a documented array', () => {
  test('are rows of a view with the documented columns, under both names', async () => {
    const session = await tempMirror();
    await put(
      session,
      '[{"id":3,"nom":"Anne","fax":null,"cell":1.50},{"nom":"é\\"😀"}]',
      '[]',
      'null',
      '[{"id":"-12","nom":true,"fonction":["a"],"email":"null","extra":1}]',
    );
    for (const view of ['bi_clients_contacts', 'client_contacts']) {
      expect((await columnsOf(session, view)).map(([name]) => name)).toEqual(COLUMNS);
      const rows = await session.query(
        sql`select parent_id, position, id, nom, fonction, email, cell, fax from ${sql.identifier(view)} order by 1, 2`,
      );
      const none = { id: null, nom: null, fonction: null, email: null, cell: null, fax: null };
      expect(rows).toEqual([
        { ...none, parent_id: 1, position: 0, id: 3, nom: 'Anne', cell: '1.5' },
        { ...none, parent_id: 1, position: 1, nom: 'é"😀' },
        { ...none, parent_id: 4, position: 0, id: -12, nom: 'true', fonction: '["a"]', email: 'null' },
      ]);
    }
  });

  test('those that are no objects are left out, and deleted rows have none', async () => {
    const session = await tempMirror();
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [
        { id: '1', contacts: '[1,"x",null,[{"id":1}],{"id":2},true]' },
        { id: '2', contacts: '[{"id":3}]', _deleted_at: NOON_TEXT },
        { id: '3', contacts: '{"id":4}' },
        { id: '4', contacts: '"[{}]"' },
      ]),
    );
    expect(await session.query(sql`select parent_id, position, id from client_contacts`)).toEqual([
      { parent_id: 1, position: 4, id: 2 },
    ]);
  });

  test('may be asked for, sorted and joined by any column, whatever else is there', async () => {
    const session = await tempMirror();
    await put(session, '["x",{"id":1,"nom":"x"},"[",7]', '"x"', '{"nom":"x"}', '["x"]');
    for (const column of COLUMNS) {
      const name = sql.identifier(column);
      await session.query(
        sql`select * from client_contacts where ${name} = 'x' or ${name} > 1 order by ${name}`,
      );
      await session.query(sql`
        select count(*) from client_contacts a join bi_clients_contacts b on a.${name} = b.${name} group by a.${name}`);
    }
    expect(await session.query(sql`select id from client_contacts where nom = 'x'`)).toEqual([{ id: 1 }]);
  });
});

describe('guarded numbers', () => {
  const items = [integer('n'), flag('f'), decimal('d', 2)];
  const kind = madeUpKind('things', [json('parts', items), json('loose')]);

  test.each<[string, Row]>([
    ['{"n":"7","f":1,"d":"12.50"}', { n: 7, f: 1, d: 12.5, d_exact: '12.50' }],
    ['{"n":-7,"f":"0","d":-0.10}', { n: -7, f: 0, d: -0.1, d_exact: '-0.10' }],
    ['{"n":"","f":"yes","d":""}', { n: null, f: null, d: null, d_exact: '' }],
    ['{"n":1.5,"f":true,"d":1e5}', { n: null, f: null, d: null, d_exact: '1e5' }],
    ['{"n":"--1","f":"-","d":"-"}', { n: null, f: null, d: null, d_exact: '-' }],
    ['{"n":"1x","f":{},"d":"1.2.3"}', { n: null, f: null, d: null, d_exact: '1.2.3' }],
    ['{"n":"+1","f":[],"d":".5"}', { n: null, f: null, d: null, d_exact: '.5' }],
    ['{"n":1234567890123456789012,"f":null,"d":"5."}', { n: null, f: null, d: null, d_exact: '5.' }],
    ['{}', { n: null, f: null, d: null, d_exact: null }],
  ])('%s', async (part, expected) => {
    const session = await tempMirror([kind]);
    await session.atomically((tx) => putRecords(tx, 'things', [{ id: '1', parts: `[${part}]` }]));
    expect(await session.query(sql`select n, f, d, d_exact from bi_things_parts`)).toEqual([expected]);
  });

  test('without known items, an element is a value', async () => {
    const session = await tempMirror([kind]);
    await session.atomically((tx) =>
      putRecords(tx, 'things', [{ id: '1', loose: '[1,"a",{"b":[2]},null,[3]]' }]),
    );
    expect(await session.query(sql`select position, value from bi_things_loose order by position`)).toEqual([
      { position: 0, value: '1' },
      { position: 1, value: 'a' },
      { position: 2, value: '{"b":[2]}' },
      { position: 3, value: null },
      { position: 4, value: '[3]' },
    ]);
  });
});

describe('no view of elements raises', () => {
  const VIEWS = ['bi_clients', 'bi_clients_contacts', 'client_contacts'];
  const readAll = async (session: Session): Promise<void> => {
    for (const view of VIEWS) await session.query(sql`select * from ${sql.identifier(view)} where true`);
    await session.query(sql`select * from client_contacts where nom = 'x' order by id`);
  };

  test('whatever nested JSON came, and every object of an array is a row', async () => {
    const session = await tempMirror();
    const names = ['id', 'nom', 'fonction', 'email', 'fax', 'x'];
    const contact = fc
      .uniqueArray(fc.tuple(fc.constantFrom(...names), models), { selector: ([name]) => name })
      .map((object): Model => ({ object }));
    const list = fc.array(fc.oneof(contact, models), { maxLength: 4 }).map((array): Model => ({ array }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(list, models), { minLength: 1, maxLength: 4 }), async (sent) => {
        await put(session, ...sent.map((model) => spell(model)));
        await readAll(session);
        const objects = sent
          .filter((model) => stored(spell(model)) !== null)
          .flatMap((model) => ('array' in model ? model.array.filter((one) => 'object' in one) : []));
        expect(await session.query(sql`select 1 from client_contacts`)).toHaveLength(objects.length);
      }),
      { numRuns: 150 },
    );
  });

  test.each([10, 60])('JSON nested %i deep', async (depth) => {
    const session = await tempMirror();
    await put(session, `[{"id":1,"nom":${'['.repeat(depth)}${']'.repeat(depth)}}]`);
    await readAll(session);
  });
});
