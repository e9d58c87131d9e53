import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { recordComparer } from '../../../src/features/verify/compare-record.ts';
import {
  dateField,
  decimalField,
  flagField,
  integerField,
  jsonField,
  textField,
  timeField,
  timestampField,
} from '../../../src/catalog/field.ts';
import type { Kind } from '../../../src/catalog/kind.ts';
import { listChangedFields } from '../../../src/diff/compare-page.ts';
import { createRecordDecoder } from '../../../src/diff/decode-record.ts';
import { compactJson, parseJson, type Json, type JsonObject } from '../../../src/lib/json/json.ts';
import type { Row } from '../../../src/db/session/session.ts';
import { filledColumns, rowWriter } from '../../../src/store/tables/kind-table.ts';
import { models, spell } from '../../support/json-models.ts';
import { NASTY_VALUES } from '../../support/nasty-values.ts';
import { sized } from '../../support/tiers.ts';

/** One field of each type, a decimal without scale as discovered ones have it, and a hint without a column. */
const kind: Kind = {
  name: 'things',
  list: null,
  retrieve: null,
  create: null,
  update: null,
  naturalKey: 'all sent fields',
  fields: [
    integerField('id'),
    integerField('rank'),
    flagField('active'),
    decimalField('price', 2),
    { name: 'found', type: 'decimal' },
    dateField('day'),
    timeField('start'),
    timestampField('updated'),
    textField('note'),
    jsonField('tags'),
  ],
  hints: [decimalField('hinted', 2)],
};
const NAMES = [...kind.fields.map(({ name }) => name).filter((name) => name !== 'id'), 'hinted', 'unknown'];

/** The row that the mirror makes of a record. */
function rowOf(record: JsonObject): Row {
  const row = rowWriter(kind, 'sqlite')(createRecordDecoder(kind)(record).values);
  const columns = filledColumns(kind, 'sqlite').map((name, at) => [name, row[at] ?? null]);
  return { ...(Object.fromEntries(columns) as Row), _raw: compactJson(record) };
}

const compare = recordComparer(kind, 'sqlite');
const differencesOf = (record: JsonObject, row: Row) =>
  compare({ id: '1', record, raw: compactJson(record) }, row).differences;

const RECORD: JsonObject = {
  id: 1,
  rank: 7,
  price: '1250.50',
  start: '07:05',
  note: 'Chêne blanc',
  tags: [{ b: new LosslessNumber('1.50'), a: null }],
  unknown: 'x',
};

describe('a row', () => {
  test('that holds what was sent has no difference', () => {
    expect(differencesOf(RECORD, rowOf(RECORD))).toEqual([]);
  });

  test.each<[string, Row[string], string | null, string | null]>([
    ['rank', 8, '7', '8'],
    ['rank', null, '7', null],
    ['price', '1250.5000000000000001', '1250.50', '1250.5000000000000001'],
    ['price_e4', 12505001, '12505000', '12505001'],
    ['start', '07:06:00', '07:05:00', '07:06:00'],
    ['note', 'ChÃªne blanc', 'Chêne blanc', 'ChÃªne blanc'],
    ['found', '1', null, '1'],
    ['tags', '[', '[{"a":null,"b":1.5}]', '['],
  ])('whose %s became %j differs in it', (field, column, service, mirror) => {
    expect(differencesOf(RECORD, { ...rowOf(RECORD), [field]: column })).toEqual([
      { field, service, mirror },
    ]);
  });

  test('differs in `_raw` by the members that differ, and only in values', () => {
    const raw = (change: JsonObject) => ({ ...rowOf(RECORD), _raw: compactJson({ ...RECORD, ...change }) });
    expect(differencesOf(RECORD, raw({ unknown: 'y' }))).toEqual([
      { field: '_raw', service: '{"unknown":"x"}', mirror: '{"unknown":"y"}' },
    ]);
    expect(differencesOf(RECORD, raw({ more: 1 }))).toEqual([
      { field: '_raw', service: '{}', mirror: '{"more":1}' },
    ]);
    // The same value in another spelling is not a change to the mirror, which keeps the text that it had.
    const respelled = { price: new LosslessNumber('1250.5'), start: '07:05:00', rank: '7' };
    expect(differencesOf(RECORD, raw(respelled))).toEqual([]);
    for (const broken of ['{"id":1', '[]', 'null', ''])
      expect(differencesOf(RECORD, { ...rowOf(RECORD), _raw: broken })).toEqual([
        { field: '_raw', service: compactJson(RECORD), mirror: broken },
      ]);
  });
});

/** As they come out of the parser: a short whole number is not a LosslessNumber there. */
const NASTY = NASTY_VALUES.map((value) => parseJson(compactJson(value)));

const values: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.constantFrom('12.50', '12.5', '-3', '0.00', '2025-01-05', '07:05', '2025-01-05 10:00:00', 'x', '1', '0'),
  models.map((model) => parseJson(spell(model))),
);
const records = fc
  .dictionary(fc.constantFrom(...NAMES), values, { maxKeys: NAMES.length })
  .map((members): JsonObject => ({ ...members, id: 1 }));

test('a row that the mirror leaves as it was agrees, and one that it would update differs', () => {
  const pairs = fc.tuple(records, fc.constantFrom(...NAMES), values, values).map(
    ([record, name, a, b]) =>
      [
        { ...record, [name]: a },
        { ...record, [name]: b },
      ] as const,
  );
  fc.assert(
    fc.property(pairs, ([before, after]) => {
      const isChanged = listChangedFields(kind, before, after).length > 0;
      expect(differencesOf(after, rowOf(before)).length > 0).toBe(isChanged);
    }),
    { numRuns: sized({ quick: 1_500, acceptance: 5_000, deep: 5_000 }) },
  );
});
