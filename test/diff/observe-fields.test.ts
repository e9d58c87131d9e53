import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindNamed } from '../../src/catalog/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import type { SeenType } from '../../src/diff/field-type.ts';
import { observeFields } from '../../src/diff/observe-fields.ts';
import { parseJson } from '../../src/lib/json.ts';
import type { JsonObject } from '../../src/lib/json.ts';

const CATEGORIES: Kind = kindNamed('categories') ?? expect.fail('no categories');
const parse = (texts: readonly string[]) => texts.map((text) => parseJson(text) as JsonObject);

type Types = Record<string, SeenType>;

test.each<[string, string[], { known: Types; news: Types }]>([
  ['documented fields are no news', ['{"id":"x","code":[],"name_fr":1}'], { known: {}, news: {} }],
  ['a new field is', ['{"id":7,"rank":3}'], { known: {}, news: { rank: 'integer' } }],
  ['a field that was null is', ['{"rank":null}'], { known: {}, news: { rank: 'none' } }],
  [
    'a field as known is not',
    ['{"rank":4}', '{"rank":null}', '{"rank":""}'],
    { known: { rank: 'integer' }, news: {} },
  ],
  [
    'a wider type is',
    ['{"rank":4}', '{"rank":4.5}'],
    { known: { rank: 'integer' }, news: { rank: 'decimal' } },
  ],
  ['a narrower type is not', ['{"rank":4}', '{"rank":"2026-01-01"}'], { known: { rank: 'text' }, news: {} }],
  [
    'a field known as null gets its type',
    ['{"rank":"2026-01-01"}'],
    { known: { rank: 'none' }, news: { rank: 'date' } },
  ],
  ['a nested value is json', ['{"rank":[1.5]}'], { known: { rank: 'text' }, news: { rank: 'json' } }],
  [
    'nothing is wider than json',
    ['{"rank":1}', '{"rank":"a"}', '{"rank":{}}'],
    { known: { rank: 'json' }, news: {} },
  ],
  ['hinted fields are observed too', ['{"status":1}'], { known: {}, news: { status: 'integer' } }],
  [
    'fields of several records',
    ['{"a":1,"b":"x"}', '{"b":2,"c":1.5}'],
    { known: {}, news: { a: 'integer', b: 'text', c: 'decimal' } },
  ],
])('%s: %j makes %j', (_name, texts, { known, news }) => {
  expect(Object.fromEntries(observeFields(CATEGORIES, new Map(Object.entries(known)), parse(texts)))).toEqual(
    news,
  );
});

test.each(['__proto__', 'constructor', 'toString', 'prototype'])(
  'C12: %s is a field like any other',
  (name) => {
    const news = observeFields(CATEGORIES, new Map(), parse([`{"${name}":1}`, `{"${name}":2.50}`, '{}']));
    expect([...news]).toEqual([[name, 'decimal']]);
    expect(({} as Record<string, unknown>)['1']).toBeUndefined();
  },
);

test('neither the order of records nor the cut into pages matters', () => {
  const values = ['1', '1.5', '"2026-01-01"', '"2026-01-01 10:00:00"', '"0042"', 'null', '""', 'true', '[]'];
  const records = fc.dictionary(fc.constantFrom('a', 'b', 'id'), fc.constantFrom(...values)).map(
    (fields) =>
      `{${Object.entries(fields)
        .map(([name, value]) => `"${name}":${value}`)
        .join(',')}}`,
  );
  fc.assert(
    fc.property(fc.array(records, { maxLength: 6 }), fc.nat(6), (texts, cut) => {
      const all = observeFields(CATEGORIES, new Map(), parse(texts));
      const first = observeFields(CATEGORIES, new Map(), parse(texts.slice(0, cut)));
      const second = observeFields(CATEGORIES, first, parse(texts.slice(cut)));
      const turned = observeFields(CATEGORIES, new Map(), parse([...texts].reverse()));
      expect(new Map([...first, ...second])).toEqual(all);
      expect(turned).toEqual(all);
      expect(observeFields(CATEGORIES, all, parse(texts))).toEqual(new Map());
    }),
    { numRuns: 500 },
  );
});

test('what was known is left as it was', () => {
  const known = new Map<string, SeenType>([['rank', 'integer']]);
  observeFields(CATEGORIES, known, parse(['{"rank":"a","other":1}']));
  expect([...known]).toEqual([['rank', 'integer']]);
});
