import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeField } from '../../src/diff/decode-field.ts';
import { seenType, widerType } from '../../src/diff/field-type.ts';
import type { SeenType } from '../../src/diff/field-type.ts';
import { parseJson } from '../../src/lib/json.ts';
import type { Json } from '../../src/lib/json.ts';
import { numberTokens } from '../support/json-models.ts';

const TYPES: readonly SeenType[] = ['none', 'integer', 'decimal', 'date', 'timestamp', 'text', 'json'];
const valueOf = (token: string): Json => (parseJson(`[${token}]`) as readonly Json[])[0] ?? null;

const SEEN: [string, SeenType][] = [
  ['null', 'none'],
  ['""', 'none'],
  ['0', 'integer'],
  ['-7', 'integer'],
  ['9223372036854775807', 'integer'],
  ['"42"', 'text'],
  ['"0"', 'text'],
  ['"-7"', 'text'],
  ['"012345678905"', 'text'],
  ['1e999999', 'text'],
  ['10.50', 'decimal'],
  ['1e2', 'decimal'],
  ['9223372036854775808', 'decimal'],
  ['"10.50"', 'decimal'],
  ['"-0.5"', 'decimal'],
  ['"0.00"', 'decimal'],
  ['"0042"', 'text'],
  ['"00.50"', 'text'],
  ['"1e2"', 'text'],
  ['"1,5"', 'text'],
  ['"-0"', 'text'],
  ['"9223372036854775808"', 'text'],
  ['"2026-03-29"', 'date'],
  ['"0000-00-00"', 'date'],
  ['"2026-02-30"', 'text'],
  ['"2026-03-29 02:30:00"', 'timestamp'],
  ['"0000-00-00 00:00:00"', 'timestamp'],
  ['"2026-03-29 24:00:00"', 'text'],
  ['"08:30:00"', 'text'],
  ['"Québec"', 'text'],
  ['" "', 'text'],
  ['"true"', 'text'],
  ['"[1,2]"', 'text'],
  ['[]', 'json'],
  ['{}', 'json'],
  ['[1.5]', 'json'],
  ['{"id":7}', 'json'],
];

test.each(SEEN)('%s shows the type %s', (token, type) => {
  expect(seenType(valueOf(token))).toBe(type);
});

test('the wider of two types is the same from either side, of itself itself, and in any grouping', () => {
  for (const a of TYPES) {
    expect(widerType(a, a)).toBe(a);
    expect([widerType(a, 'none'), widerType(a, 'json')]).toEqual([a, 'json']);
    for (const b of TYPES) {
      expect(widerType(a, b)).toBe(widerType(b, a));
      expect(widerType(widerType(a, b), b)).toBe(widerType(a, b));
      for (const c of TYPES) expect(widerType(widerType(a, b), c)).toBe(widerType(a, widerType(b, c)));
    }
  }
});

test.each<[SeenType, SeenType, SeenType]>([
  ['integer', 'decimal', 'decimal'],
  ['integer', 'date', 'text'],
  ['decimal', 'text', 'text'],
  ['date', 'timestamp', 'text'],
  ['text', 'json', 'json'],
])('%s and %s need %s', (a, b, wider) => {
  expect(widerType(a, b)).toBe(wider);
});

const two = (value: number): string => String(value).padStart(2, '0');
const shownValues: fc.Arbitrary<Json> = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => valueOf(String(value))),
  fc.bigInt(0n, 10n ** 14n).map((value) => String(value)),
  fc.tuple(fc.integer(), fc.nat(99)).map(([whole, places]) => `${whole}.${two(places)}`),
  fc
    .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 28 }))
    .map(([year, day]) => `${String(year).padStart(4, '0')}-02-${two(day)}`),
  fc.integer({ min: 0, max: 59 }).map((minute) => `2026-03-29 02:${two(minute)}:00`),
  fc.constantFrom<Json>(null, '', 'ABC-1', '012345678905', true),
);
const shownTogether = fc.oneof(
  ...[1, 4].map((maxLength) => fc.array(shownValues, { minLength: 1, maxLength })),
);
const typeOf = (values: readonly Json[]): SeenType =>
  values.map(seenType).reduce((one, other) => widerType(one, other), 'none');

/** Whether a type may be given to a value at all: digits in quotes make no number. */
function isFor(type: SeenType, value: Json): boolean {
  if (value === true) return type === 'text';
  const isNumber = typeof value !== 'string';
  if (type === 'integer') return isNumber;
  return type !== 'decimal' || isNumber || value.includes('.');
}

test('the type of many values is the narrowest that holds them all, in whatever order they came', () => {
  const narrowestFirst = ['integer', 'decimal', 'date', 'timestamp', 'text'] as const;
  fc.assert(
    fc.property(shownTogether, (values) => {
      const type = typeOf(values);
      const told = values.filter((value) => value !== null && value !== '');
      const holds = (narrow: SeenType): boolean =>
        told.every((value) => isFor(narrow, value) && fits(narrow, value));
      expect(type).toBe(told.length === 0 ? 'none' : narrowestFirst.find(holds));
      expect(typeOf([...values].reverse())).toBe(type);
    }),
    { numRuns: 2000 },
  );
});

/** True where the value gets into a column of the type without a misfit. */
function fits(type: SeenType, value: Json): boolean {
  let fitting = true;
  if (type !== 'none') decodeField({ name: 'a', type }, value, () => (fitting = false));
  return fitting;
}

test.each(SEEN.map(([token]) => [token]))('%s fits the type that it and any other value need', (token) => {
  const value = valueOf(token);
  for (const [other] of SEEN) {
    const type = widerType(seenType(value), seenType(valueOf(other)));
    const blank = token === '""' && type === 'integer'; // An empty text is no integer, and told as such.
    expect([other, type, blank || fits(type, value)]).toEqual([other, type, true]);
  }
});

test.each(['true', 'false'])('the undocumented boolean %s fits the type that it shows', (token) => {
  expect(fits(seenType(valueOf(token)), valueOf(token))).toBe(true);
});

test('any number fits the type that it shows', () => {
  fc.assert(
    fc.property(numberTokens, (token) => {
      expect(fits(seenType(valueOf(token)), valueOf(token))).toBe(true);
    }),
  );
});

test('C10: any text that can be stored fits the type that it shows', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      expect(fits(seenType(value), value)).toBe(!value.includes('\0'));
    }),
  );
});

test('a long hostile text costs no more than its length', () => {
  const started = performance.now();
  seenType(`0.${'0'.repeat(20_000)}1`);
  expect(performance.now() - started).toBeLessThan(100);
});
