import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { compareRecord } from '../../src/audit/compare-record.ts';
import {
  date,
  decimal,
  flag,
  integer,
  json,
  reference,
  text,
  time,
  timestamp,
} from '../../src/catalog/field.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { changedFields } from '../../src/diff/judge-page.ts';
import { recordDecoder } from '../../src/diff/decode-record.ts';
import { compactJson, parseJson } from '../../src/lib/json/json.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import type { Row } from '../../src/mirror/session/session.ts';
import { models, spell } from '../support/json-models.ts';
import { NASTY_VALUES } from '../support/nasty-values.ts';
import { sized } from '../support/tiers.ts';

/** One field of each type, a decimal without scale as discovered ones have it, and a hint without a column. */
const kind: Kind = {
  name: 'things',
  list: null,
  retrieve: null,
  create: null,
  update: null,
  naturalKey: 'all sent fields',
  fields: [
    integer('id'),
    integer('rank'),
    flag('active'),
    decimal('price', 2),
    { name: 'found', type: 'decimal' },
    date('day'),
    time('start'),
    timestamp('updated'),
    text('note'),
    json('tags'),
  ],
  hints: [decimal('hinted', 2)],
};
const NAMES = [...kind.fields.map(({ name }) => name).filter((name) => name !== 'id'), 'hinted', 'unknown'];

/** The row that the mirror makes of a record. */
function rowOf(record: JsonObject): Row {
  const { values } = recordDecoder(kind)(record);
  const columns = kind.fields.map(({ name }, index) => [name, values[index] ?? null]);
  return { ...(Object.fromEntries(columns) as Row), _raw: compactJson(record) };
}

const RECORD: JsonObject = {
  id: 1,
  rank: 7,
  active: 1,
  price: '1250.50',
  found: new LosslessNumber('3.5'),
  day: '2025-01-05',
  start: '07:05',
  updated: '2025-01-05T10:00:00',
  note: 'Chêne blanc',
  tags: [{ b: new LosslessNumber('1.50'), a: null }],
  unknown: 'x',
};

describe('a row', () => {
  test('that holds what was sent has no difference', () => {
    expect(compareRecord(kind, RECORD, rowOf(RECORD))).toEqual([]);
  });

  test.each<[string, Row[string], string | null, string | null]>([
    ['rank', 8, '7', '8'],
    ['rank', null, '7', null],
    ['active', 0, '1', '0'],
    ['price', '1250.51', '1250.50', '1250.51'],
    ['price', '1250.5000000000000001', '1250.50', '1250.5000000000000001'],
    ['price', 'about 1250', '1250.50', 'about 1250'],
    ['found', '3.499999', '3.5', '3.499999'],
    ['day', '2025-01-06', '2025-01-05', '2025-01-06'],
    ['start', '07:06:00', '07:05', '07:06:00'],
    ['updated', '2025-01-05 11:00:00', '2025-01-05T10:00:00', '2025-01-05 11:00:00'],
    ['note', 'Chêne', 'Chêne blanc', 'Chêne'],
    ['note', 'ChÃªne blanc', 'Chêne blanc', 'ChÃªne blanc'],
    ['tags', '[{"a":null,"b":1.51}]', '[{"b":1.50,"a":null}]', '[{"a":null,"b":1.51}]'],
    ['tags', '[', '[{"b":1.50,"a":null}]', '['],
  ])('whose %s became %j differs in it', (field, column, service, mirror) => {
    expect(compareRecord(kind, RECORD, { ...rowOf(RECORD), [field]: column })).toEqual([
      { field, service, mirror },
    ]);
  });

  test('keeps a value that the service does not send only by mistake', () => {
    const record = { ...RECORD, note: null };
    expect(compareRecord(kind, record, { ...rowOf(record), note: 'invented' })).toEqual([
      { field: 'note', service: null, mirror: 'invented' },
    ]);
    const misfit = { ...RECORD, price: '1,5' };
    expect(compareRecord(kind, misfit, { ...rowOf(misfit), price: '1.50' })).toEqual([
      { field: 'price', service: '1,5', mirror: '1.50' },
    ]);
  });

  test('differs in `_raw` by the members that differ, and only in values', () => {
    const raw = (change: JsonObject) => ({ ...rowOf(RECORD), _raw: compactJson({ ...RECORD, ...change }) });
    expect(compareRecord(kind, RECORD, raw({ unknown: 'y' }))).toEqual([
      { field: '_raw', service: '{"unknown":"x"}', mirror: '{"unknown":"y"}' },
    ]);
    expect(compareRecord(kind, RECORD, raw({ more: 1 }))).toEqual([
      { field: '_raw', service: '{}', mirror: '{"more":1}' },
    ]);
    // The same value in another spelling is no change to the mirror, which keeps the text that it had.
    const respelled = { price: new LosslessNumber('1250.5'), start: '07:05:00', rank: '7', active: true };
    expect(compareRecord(kind, RECORD, raw(respelled))).toEqual([]);
    for (const broken of ['{"id":1', '[]', 'null', ''])
      expect(compareRecord(kind, RECORD, { ...rowOf(RECORD), _raw: broken })).toEqual([
        { field: '_raw', service: compactJson(RECORD), mirror: broken },
      ]);
  });
});

/** As they come out of the parser: a short whole number is no LosslessNumber there. */
const NASTY = NASTY_VALUES.map((value) => parseJson(compactJson(value)));

const values: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.constantFrom('12.50', '12.5', '-3', '0.00', '2025-01-05', '07:05', '2025-01-05 10:00:00', 'x', '1', '0'),
  models.map((model) => parseJson(spell(model))),
);
const records = fc
  .dictionary(fc.constantFrom(...NAMES), values, { maxKeys: NAMES.length })
  .map((members): JsonObject => ({ ...members, id: 1 }));

describe('agrees with the mirror, whose decoder it does not know', () => {
  test('about every nasty value in every type of field', () => {
    for (const value of NASTY) {
      for (const name of NAMES) {
        const record = { id: 1, [name]: value };
        expect(compareRecord(kind, record, rowOf(record)), `${name}: ${compactJson(value)}`).toEqual([]);
      }
    }
  });

  test('about thousands of records: none that has just landed differs', () => {
    fc.assert(
      fc.property(records, (record) => {
        expect(compareRecord(kind, record, rowOf(record))).toEqual([]);
      }),
      { numRuns: sized({ quick: 800, acceptance: 3_000, deep: 3_000 }) },
    );
  });

  test('about what is a change: a row that the mirror leaves as it was agrees, and one that it would update differs', () => {
    const pairs = fc.tuple(records, fc.constantFrom(...NAMES), values, values).map(
      ([record, name, a, b]) =>
        [
          { ...record, [name]: a },
          { ...record, [name]: b },
        ] as const,
    );
    fc.assert(
      fc.property(pairs, ([before, after]) => {
        const isChanged = changedFields(kind, before, after).length > 0;
        expect(compareRecord(kind, after, rowOf(before)).length > 0).toBe(isChanged);
      }),
      { numRuns: sized({ quick: 1_500, acceptance: 5_000, deep: 5_000 }) },
    );
  });
});

describe('a column of texts', () => {
  const withTexts: Kind = {
    ...kind,
    fields: [
      ...kind.fields,
      reference(text('owner'), 'things'),
      { ...text('found_text'), textOf: 'found' },
      { ...text('owner_text'), textOf: 'owner' },
    ],
  };
  const made = (record: JsonObject): Row => {
    const { values } = recordDecoder(withTexts)(record);
    const columns = withTexts.fields.map(({ name }, index) => [name, values[index] ?? null]);
    return { ...(Object.fromEntries(columns) as Row), _raw: compactJson(record) };
  };

  test('holds what its field’s column could not, whatever the value', () => {
    for (const value of [...NASTY_VALUES, '007', '7', 0, '', null, new LosslessNumber('1e999999')]) {
      const record = { ...RECORD, found: value, owner: value, found_text: 'the service’s own' };
      expect([value, compareRecord(withTexts, record, made(record))]).toEqual([value, []]);
    }
  });

  test.each<[Json, string | null, string | null]>([
    ['1,5', null, '1,5'],
    ['1,5', '1,50', '1,5'],
    ['1.5', '1.5', null],
  ])('differs where %j has %j beside it', (found, column, service) => {
    const record = { ...RECORD, found };
    expect(compareRecord(withTexts, record, { ...made(record), found_text: column })).toEqual([
      { field: 'found_text', service, mirror: column },
    ]);
  });
});
