import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { exactNumber, isSameJson, readValue, sortRecords } from '../../src/audit/read-value.ts';
import type { FieldType } from '../../src/catalog/kind.ts';
import { parseJson } from '../../src/lib/json/json.ts';
import type { Json } from '../../src/lib/json/json.ts';
import { exactValue } from '../support/exact.ts';
import { meaning, models, numberTokens, respelled, spell } from '../support/json-models.ts';

const number = (token: string): Json => new LosslessNumber(token);
const NONE: readonly [FieldType, Json][] = [
  ['decimal', ''],
  ['decimal', '0000-00-00'],
  ['date', ''],
  ['date', '0000-00-00'],
  ['time', ''],
  ['timestamp', ''],
  ['timestamp', '0000-00-00'],
  ['timestamp', '0000-00-00 00:00:00'],
  ['text', null],
  ['json', null],
  ['integer', null],
];
const VALUES: readonly [FieldType, Json, string][] = [
  ['integer', 7, '7'],
  ['integer', '-12', '-12'],
  ['integer', number('9223372036854775807'), '9223372036854775807'],
  ['integer', '-9223372036854775808', '-9223372036854775808'],
  ['flag', true, '1'],
  ['flag', '0', '0'],
  ['decimal', '1250.50', '12505e-1'],
  ['decimal', number('1.5e+10'), '15e9'],
  ['decimal', 7, '7e0'],
  ['decimal', '1E+3', '1e3'],
  ['decimal', '-1.5e-2', '-15e-3'],
  ['date', '2024-02-29', '2024-02-29'],
  ['date', '0001-01-01', '0001-01-01'],
  ['time', '07:05', '07:05:00'],
  ['time', '23:59:59', '23:59:59'],
  ['timestamp', '2025-03-09T02:30:00', '2025-03-09 02:30:00'],
  ['text', number('10.00'), '10.00'],
  ['text', '', ''],
  ['text', false, 'false'],
];
const MISFITS: readonly [FieldType, Json][] = [
  ['integer', '007'],
  ['integer', ''],
  ['integer', number('1.0')],
  ['integer', number('-0')],
  ['integer', '9223372036854775808'],
  ['integer', true],
  ['flag', 2],
  ['flag', [true]],
  ['flag', 'yes'],
  ['decimal', '1,5'],
  ['decimal', '1e3.5'],
  ['decimal', 'e3'],
  ['decimal', ' 12'],
  ['decimal', [1]],
  ['date', '2025-02-29'],
  ['date', '0000-12-01'],
  ['date', '2025-1-5'],
  ['date', '2025-01-05T00:00:00'],
  ['date', 20250105],
  ['time', '24:00:00'],
  ['time', '23:59:60'],
  ['time', '7:05'],
  ['timestamp', '2025-01-05'],
  ['timestamp', '2025-01-05 24:00:00'],
  ['timestamp', '2025-01-05T10:00:00Z'],
  ['text', 'a\u0000b'],
  ['text', '\ud800'],
  ['text', []],
  ['json', [{ 'a\u0000': 1 }]],
  ['json', { a: ['\udfff'] }],
];

describe('a value of the service', () => {
  test.each(NONE)('%s: %j is none', (type, value) => {
    expect(readValue(type, value)).toEqual({ fits: true, text: null });
  });

  test.each(VALUES)('%s: %j is %j', (type, value, text) => {
    expect(readValue(type, value)).toEqual({ fits: true, text });
  });

  test.each(MISFITS)('%s: %j fits no rule', (type, value) => {
    expect(readValue(type, value)).toEqual({ fits: false, text: null });
  });
});

test.each([
  ['0', '0e0'],
  ['-0.00', '0e0'],
  ['007', '7e0'],
  ['10.00', '1e1'],
  ['-1250.50', '-12505e-1'],
  ['1.5E+3', '15e2'],
  ['0.30000000000000004', '30000000000000004e-17'],
  ['1e99999999999999999999', '1e99999999999999999999'],
])('%s is %s exactly', (token, exact) => {
  expect(exactNumber(token)).toBe(exact);
});

test('an exponent of a million digits is not computed with', () => {
  const started = performance.now();
  const token = `1e${'9'.repeat(1_000_000)}`;
  expect(exactNumber(token)).toBe(token);
  expect(performance.now() - started).toBeLessThan(100);
});

test.each(['', ' 1', '1,5', '.5', '1.', '+1', '0x10', 'NaN', '1e', '--1', '١'])(
  '%j is no number',
  (token) => {
    expect(exactNumber(token)).toBeNull();
  },
);

test('numbers are equal exactly where their values are', () => {
  fc.assert(
    fc.property(numberTokens, numberTokens, (a, b) => {
      expect(exactNumber(a) === exactNumber(b)).toBe(exactValue(a) === exactValue(b));
    }),
  );
});

test('the order of keys and the spelling of numbers are nothing', () => {
  fc.assert(
    fc.property(models, (model) => {
      expect(isSameJson(parseJson(spell(model)), parseJson(spell(respelled(model))))).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('everything else is something', () => {
  fc.assert(
    fc.property(models, models, (a, b) => {
      expect(isSameJson(parseJson(spell(a)), parseJson(spell(b)))).toBe(meaning(a) === meaning(b));
    }),
    { numRuns: 1_000 },
  );
  for (const [a, b] of [
    ['1', '"1"'],
    ['null', '{}'],
    ['[]', '{}'],
    ['[1,2]', '[2,1]'],
    ['[1]', '[1,null]'],
    ['{"a":null}', '{"b":null}'],
    ['{}', '{"toString":null}'],
    ['true', '1'],
    ['9007199254740993', '9007199254740992'],
  ]) {
    expect(isSameJson(parseJson(a ?? ''), parseJson(b ?? '')), `${a} and ${b}`).toBe(false);
  }
});

const idsOf = (records: readonly Json[]) => {
  const { known, unusable } = sortRecords(records);
  return { known: known.map(({ id }) => id), unusable: unusable.map(({ id }) => id) };
};

test('a record is known by a whole number from 1 to 2^63-1, as number or text (C01, C03)', () => {
  const usable = [1, '2', new LosslessNumber('9223372036854775807')];
  expect(idsOf(usable.map((id) => ({ id })))).toEqual({
    known: ['1', '2', '9223372036854775807'],
    unusable: [],
  });
  const not = [0, -1, '07', '', null, true, [1], new LosslessNumber('7.0'), '9223372036854775808'];
  const records: Json[] = [...not.map((id) => ({ id })), {}, 'a text', 7, null, []];
  expect(idsOf(records)).toEqual({ known: [], unusable: records.map(() => null) });
});

test('a record that came twice is one, unless its versions differ (A18)', () => {
  const twice = [
    { id: 1, a: 1 },
    { id: 2, a: 1 },
    { id: '1', a: 1 },
    { a: 1, id: 2 },
    { id: 1, a: 2 },
  ];
  expect(idsOf(twice)).toEqual({ known: ['2'], unusable: ['1'] });
});

test('a record nested beyond reason is set aside, with its id', () => {
  let deep: Json = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(idsOf([{ id: 5, deep }, { deep }])).toEqual({ known: [], unusable: ['5', null] });
});
