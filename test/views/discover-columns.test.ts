import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { decimalField, integerField, jsonField, textField } from '../../src/catalog/field.ts';
import type { Field, Kind } from '../../src/catalog/kind.ts';
import type { SeenType } from '../../src/diff/observe-fields.ts';
import { discoverColumns } from '../../src/views/discover-columns.ts';
import { readDrift } from '../../src/store/kinds/drift-store.ts';
import { readMirroredKind, saveFields } from '../../src/store/kinds/field-store.ts';
import { migrate } from '../../src/views/migrate.ts';
import type { Session } from '../../src/db/session/session.ts';
import { NOON, columnsOf, madeUpKind, putRecords, tempMirror } from '../store/temp-mirror.ts';

const THINGS: Kind = {
  ...madeUpKind('things', [textField('name')]),
  hints: [decimalField('price', 2), jsonField('parts', [textField('nom')])],
};

/** Lets fields be seen, and gives them their columns. */
async function discover(session: Session, kind: Kind, types: Record<string, SeenType>): Promise<Kind> {
  const fields = new Map(
    Object.entries(types).map(([name, type]) => [
      name,
      { type, wire: 'text', fitsHint: kind.hints.some((hint) => hint.name === name) },
    ]),
  );
  await session.atomically((tx) => saveFields(tx, kind, fields, NOON));
  return discoverColumns(session, await readMirroredKind(session, kind), NOON);
}

const namesOf = async (session: Session, table: string): Promise<string[]> =>
  (await columnsOf(session, table)).map(([name]) => name);

test('a field gets its column and its place at the end of the view, in order of first sight', async () => {
  const session = await tempMirror([THINGS]);
  await session.atomically((tx) => putRecords(tx, 'things', [{ id: '1', name: 'kept' }]));

  const grown = await discover(session, THINGS, { zoo: 'integer', price: 'text', ant: 'date', none: 'none' });
  const ant: Field = { name: 'ant', type: 'date' };
  const none = textField('none');
  expect(grown.fields.slice(2)).toEqual([integerField('zoo'), decimalField('price', 2), ant, none]);
  expect(await readMirroredKind(session, THINGS)).toEqual(grown);
  // prettier-ignore
  const shown = [
    'id', 'name', '_first_seen_at', '_changed_at', '_search', 'zoo', 'price', 'price_exact', 'price_e4', 'ant', 'none',
  ];
  expect(await namesOf(session, 'bi_things')).toEqual(shown);
  expect(await session.query(sql`select * from bi_things`)).toMatchObject([{ name: 'kept', zoo: null }]);

  const more = await discover(session, THINGS, { none: 'timestamp', bee: 'text' });
  expect(await namesOf(session, 'bi_things')).toEqual([...shown, 'bee']);
  expect(await discover(session, THINGS, {})).toEqual(more);
  expect(await readDrift(session, 10)).toEqual([]);
});

test('a nested field gets a view of its elements too', async () => {
  const session = await tempMirror([THINGS]);
  await discover(session, THINGS, { parts: 'json', loose: 'json' });
  expect(await namesOf(session, 'bi_things_parts')).toEqual(['parent_id', 'position', 'nom']);
  expect(await namesOf(session, 'bi_things_loose')).toEqual(['parent_id', 'position', 'value']);
});

test('what cannot have a column is noted once, and the others get theirs', async () => {
  const other = madeUpKind('things_rows', []);
  const session = await tempMirror([THINGS, other]);
  const types = { Name: 'text', rows: 'json', fine: 'text', Fine: 'integer' } as const;
  const grown = await discover(session, THINGS, types);
  expect(grown.fields.slice(2)).toEqual([textField('fine')]);
  expect(await discover(session, THINGS, { ...types, rows: 'text' })).toEqual(grown);
  const notes = (await readDrift(session, 10)).map(({ code, field }) => [code, field]).reverse();
  expect(notes).toEqual(['Name', 'rows', 'Fine'].map((field) => ['unusable_field', field]));
  expect(await namesOf(session, 'bi_things_rows')).toEqual(['id', '_first_seen_at', '_changed_at']);
});

test('a migration to a longer catalogue keeps discovered columns where they are in the view', async () => {
  const session = await tempMirror([THINGS]);
  await discover(session, THINGS, { mood: 'text', later: 'text' });
  await session.atomically((tx) => putRecords(tx, 'things', [{ id: '1', mood: 'sunny', later: 'x' }]));
  const longer: Kind = { ...THINGS, fields: [...THINGS.fields, textField('new'), textField('later')] };
  await migrate(session, [longer]);
  expect(await namesOf(session, 'bi_things')).toEqual([
    'id',
    'name',
    '_first_seen_at',
    '_changed_at',
    '_search',
    'mood',
    'later',
    'new',
  ]);
  expect(await session.query(sql`select * from bi_things`)).toMatchObject([
    { mood: 'sunny', later: 'x', new: null },
  ]);
  expect((await readMirroredKind(session, longer)).fields.map(({ name }) => name)).toEqual([
    'id',
    'name',
    'new',
    'later',
    'mood',
  ]);
});
