import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentedKind } from '../../src/catalog/kinds/catalog.ts';
import { decimalField, flagField } from '../../src/catalog/field.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import {
  observeFields,
  MAX_FIELDS,
  seenType,
  widerType,
  type SeenType,
  type SeenField,
} from '../../src/diff/observe-fields.ts';
import { parseJson, type JsonObject, type Json } from '../../src/lib/json/json.ts';
import { decodeField } from '../../src/diff/decode-record.ts';
import { numberTokens } from '../support/json-models.ts';
import { tries } from '../support/tiers.ts';

const CATEGORIES: Kind = documentedKind('categories') ?? expect.fail('no categories');
const parse = (texts: readonly string[]) => texts.map((text) => parseJson(text) as JsonObject);

/** A field as `type wire…`, e.g. `decimal number text`; with `!` at its end where it fits its hint. */
type Shown = string;

function shownAs({ type, wire, fitsHint }: SeenField): Shown {
  return `${type} ${wire}`.trimEnd() + (fitsHint ? '!' : '');
}

function seenIn(shown: Shown): SeenField {
  const [type = 'none', ...wire] = shown.replace('!', '').split(' ');
  return { type: type as SeenType, wire: wire.join(' '), fitsHint: shown.endsWith('!') };
}

function discoveries(
  kind: Kind,
  known: Record<string, Shown>,
  texts: readonly string[],
): Record<string, Shown> {
  const before = new Map(Object.entries(known).map(([name, shown]) => [name, seenIn(shown)]));
  const { fields: found } = observeFields(kind, before, parse(texts));
  return Object.fromEntries([...found].map(([name, seen]) => [name, shownAs(seen)]));
}

describe('undocumented fields', () => {
  test.each<[string, string[], { known: Record<string, Shown>; found: Record<string, Shown> }]>([
    ['a new field is news', ['{"rank":3}'], { known: {}, found: { rank: 'integer number' } }],
    ['a field that was null is', ['{"rank":null}'], { known: {}, found: { rank: 'none' } }],
    [
      'a field as known is not',
      ['{"rank":4}', '{"rank":null}'],
      { known: { rank: 'integer number' }, found: {} },
    ],
    [
      'a wider type is',
      ['{"rank":4}', '{"rank":4.5}'],
      { known: { rank: 'integer number' }, found: { rank: 'decimal number' } },
    ],
    [
      'a narrower type is not',
      ['{"rank":"7"}', '{"rank":"2026-01-01"}'],
      { known: { rank: 'text text' }, found: {} },
    ],
    [
      'a field known as null gets its type',
      ['{"rank":"2026-01-01"}'],
      { known: { rank: 'none' }, found: { rank: 'date text' } },
    ],
    [
      'a nested value is json',
      ['{"rank":[1.5]}'],
      { known: { rank: 'text text' }, found: { rank: 'json array text' } },
    ],
    [
      'nothing is wider than json',
      ['{"rank":1}', '{"rank":"a"}', '{"rank":{}}'],
      { known: { rank: 'json array' }, found: { rank: 'json array number object text' } },
    ],
    [
      'the same type of another JSON type is',
      ['{"rank":"4"}', '{"rank":true}'],
      { known: { rank: 'integer number' }, found: { rank: 'text boolean number text' } },
    ],
    ['empty text has a JSON type only', ['{"rank":""}'], { known: {}, found: { rank: 'none text' } }],
    [
      'fields of several records',
      ['{"a":1,"b":"x"}', '{"b":2,"c":1.5}'],
      { known: {}, found: { a: 'integer number', b: 'text number text', c: 'decimal number' } },
    ],
  ])('%s: %j', (_name, texts, { known, found }) => {
    expect(discoveries(CATEGORIES, known, texts)).toEqual(found);
  });

  const hinted: Kind = { ...CATEGORIES, hints: [decimalField('price', 2), flagField('open')] };

  test.each<[string, string[], { known: Record<string, Shown>; found: Record<string, Shown> }]>([
    ['as the hint says', ['{"price":"1.50"}'], { known: {}, found: { price: 'decimal text!' } }],
    ['nothing as yet', ['{"price":null}'], { known: {}, found: { price: 'none!' } }],
    [
      'more places than the hint has',
      ['{"price":1.505}'],
      { known: {}, found: { price: 'decimal number!' } },
    ],
    [
      'one value of several does not',
      ['{"open":1}', '{"open":2}'],
      { known: {}, found: { open: 'integer number' } },
    ],
    ['once a misfit, always a misfit', ['{"open":1}'], { known: { open: 'integer number' }, found: {} }],
    [
      'the first misfit later',
      ['{"open":"no"}'],
      { known: { open: 'integer number!' }, found: { open: 'text number text' } },
    ],
  ])('a hint: %s: %j', (_name, texts, { known, found }) => {
    expect(discoveries(hinted, known, texts)).toEqual(found);
  });
});

test('of documented fields the JSON types count, and no value retypes them', () => {
  const texts = ['{"id":7,"code":"A","name_fr":null}', '{"code":[],"name_fr":1}'];
  const found = discoveries(CATEGORIES, {}, texts);
  expect(
    Object.entries(found).map(([name, shown]) => [name, shown.replace(/^none /, '').replace('!', '')]),
  ).toEqual([
    ['id', 'number'],
    ['code', 'array text'],
    ['name_fr', 'number'],
  ]);
  const { fields: known } = observeFields(CATEGORIES, new Map(), parse(texts));
  expect(observeFields(CATEGORIES, known, parse(texts)).fields).toEqual(new Map());
  const discovered: Kind = {
    ...CATEGORIES,
    fields: [...CATEGORIES.fields, { name: 'rank', type: 'integer' }],
  };
  expect(discoveries(discovered, { rank: 'integer number' }, ['{"rank":"a"}'])).toEqual({
    rank: 'integer number text',
  });
});

test.each(['__proto__', 'constructor', 'toString', 'prototype'])(
  'C12: %s is a field like any other',
  (name) => {
    const { fields: found } = observeFields(
      CATEGORIES,
      new Map(),
      parse([`{"${name}":1}`, `{"${name}":2.50}`, '{}']),
    );
    expect([...found]).toEqual([[name, seenIn('decimal number')]]);
    expect(({} as Record<string, unknown>)['1']).toBeUndefined();
  },
);

test('neither the order of records nor the cut into pages matters', () => {
  // prettier-ignore
  const values = [
    '1', '1.5', '"2026-01-01"', '"2026-01-01 10:00:00"', '"0042"', 'null', '""', 'true', '[]', '{}',
  ];
  const kind: Kind = { ...CATEGORIES, hints: [decimalField('a', 2)] };
  const records = fc.dictionary(fc.constantFrom('a', 'b', 'id'), fc.constantFrom(...values)).map(
    (fields) =>
      `{${Object.entries(fields)
        .map(([name, value]) => `"${name}":${value}`)
        .join(',')}}`,
  );
  fc.assert(
    fc.property(fc.array(records, { maxLength: 6 }), fc.nat(6), (texts, cut) => {
      const all = observeFields(kind, new Map(), parse(texts)).fields;
      const first = observeFields(kind, new Map(), parse(texts.slice(0, cut))).fields;
      const second = observeFields(kind, first, parse(texts.slice(cut))).fields;
      const turned = observeFields(kind, new Map(), parse([...texts].reverse())).fields;
      expect(new Map([...first, ...second])).toEqual(all);
      expect(turned).toEqual(all);
      expect(observeFields(kind, all, parse(texts)).fields).toEqual(new Map());
    }),
    { numRuns: tries(500) },
  );
});

const CLIENTS = documentedKind('clients') ?? expect.fail('no clients');
const DOCUMENTED = CLIENTS.fields.map(({ name }) => name);
const names = (count: number, prefix = 'f'): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const withFields = (fields: readonly string[]): JsonObject =>
  Object.fromEntries(fields.map((name) => [name, 1]));
const known = (fields: readonly string[]) => new Map(fields.map((name) => [name, seenIn('integer number')]));

test('every field is tracked while there is room', () => {
  const records = [withFields(names(MAX_FIELDS - 2)), withFields(['f0', 'one more'])];
  const { fields, untracked } = observeFields(CLIENTS, known(['known']), records);
  expect([...fields.keys()]).toEqual([...names(MAX_FIELDS - 2), 'one more']);
  expect(untracked.size).toBe(0);
});

test('beyond that no further name is tracked, but documented and known ones always are', () => {
  const before = names(MAX_FIELDS, 'known');
  const record = { ...withFields(['new', ...DOCUMENTED, 'newer', '__proto__']), known7: 'a' };
  const { fields, untracked } = observeFields(CLIENTS, known(before), [record]);
  expect([...fields.keys()]).toEqual([...DOCUMENTED, 'known7']);
  expect([...untracked]).toEqual(['new', 'newer', '__proto__']);
});

test('a name that no index could hold is not tracked', () => {
  const { fields } = observeFields(CLIENTS, known([]), [withFields(['short', 'x'.repeat(3000)])]);
  expect([...fields.keys()]).toEqual(['short']);
});

test('the names tracked over many pages are never more than the bound, and no value is lost below it', () => {
  const pages = fc.array(
    fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 3000 }), { maxLength: 400 }), { maxLength: 3 }),
  );
  fc.assert(
    fc.property(pages, (all) => {
      const seen = new Map<string, SeenField>();
      for (const page of all) {
        const records = page.map((fields) => withFields(fields.map((n) => `f${n}`)));
        const { fields, untracked } = observeFields(CLIENTS, seen, records);
        for (const [name, field] of fields) seen.set(name, field);
        for (const name of records.flatMap((record) => Object.keys(record)))
          expect(untracked.has(name)).toBe(!seen.has(name));
        expect(seen.size).toBeLessThanOrEqual(MAX_FIELDS);
      }
    }),
    { numRuns: 50 },
  );
});

const TYPES: readonly SeenType[] = ['none', 'integer', 'decimal', 'date', 'timestamp', 'text', 'json'];
const valueOf = (token: string): Json => (parseJson(`[${token}]`) as readonly Json[])[0] ?? null;

const SEEN: [string, SeenType][] = [
  ['null', 'none'],
  ['""', 'none'],
  ['0', 'integer'],
  ['9223372036854775807', 'integer'],
  ['"42"', 'text'],
  ['"012345678905"', 'text'],
  ['1e999999', 'text'],
  ['10.50', 'decimal'],
  ['1e2', 'decimal'],
  ['9223372036854775808', 'decimal'],
  ['"10.50"', 'decimal'],
  ['"-0.5"', 'decimal'],
  ['"0042"', 'text'],
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
  ['[]', 'json'],
  ['{}', 'json'],
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
  if (type === 'date') return isNumber || value.length <= 'YYYY-MM-DD'.length; // A time would be lost.
  if (type === 'integer') return isNumber;
  return type !== 'decimal' || isNumber || value.includes('.');
}

test('the type of many values is the narrowest that holds them all, in whatever order they came', () => {
  const narrowestFirst = ['integer', 'decimal', 'date', 'timestamp', 'text'] as const;
  fc.assert(
    fc.property(shownTogether, (values) => {
      const type = typeOf(values);
      const filled = values.filter((value) => value !== null && value !== '');
      const holds = (narrow: SeenType): boolean =>
        filled.every((value) => isFor(narrow, value) && fits(narrow, value));
      expect(type).toBe(filled.length === 0 ? 'none' : narrowestFirst.find(holds));
      expect(typeOf([...values].reverse())).toBe(type);
    }),
    { numRuns: tries(2000) },
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
    const blank = token === '""' && type === 'integer'; // An empty text is not an integer, and is reported.
    expect([other, type, blank || fits(type, value)]).toEqual([other, type, true]);
  }
});

test('any number fits the type that it shows', () => {
  fc.assert(
    fc.property(numberTokens, (token) => {
      expect(fits(seenType(valueOf(token)), valueOf(token))).toBe(true);
    }),
  );
});

test('a long hostile text costs no more than its length: the square of it would not end', () => {
  seenType(`0.${'0'.repeat(1_000_000)}1`);
});
