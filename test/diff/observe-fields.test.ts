import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kindNamed } from '../../src/catalog/catalog.ts';
import { decimal, flag } from '../../src/catalog/field.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import type { SeenType } from '../../src/diff/field-type.ts';
import { observeFields } from '../../src/diff/observe-fields.ts';
import type { SeenField } from '../../src/diff/observe-fields.ts';
import { parseJson } from '../../src/lib/json.ts';
import type { JsonObject } from '../../src/lib/json.ts';

const CATEGORIES: Kind = kindNamed('categories') ?? expect.fail('no categories');
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

function news(kind: Kind, known: Record<string, Shown>, texts: readonly string[]): Record<string, Shown> {
  const before = new Map(Object.entries(known).map(([name, shown]) => [name, seenIn(shown)]));
  const found = observeFields(kind, before, parse(texts));
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
    expect(news(CATEGORIES, known, texts)).toEqual(found);
  });

  const hinted: Kind = { ...CATEGORIES, hints: [decimal('price', 2), flag('open')] };

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
    expect(news(hinted, known, texts)).toEqual(found);
  });
});

test('of documented fields the JSON types count, and no value retypes them', () => {
  const texts = ['{"id":7,"code":"A","name_fr":null}', '{"code":[],"name_fr":1}'];
  const found = news(CATEGORIES, {}, texts);
  expect(
    Object.entries(found).map(([name, shown]) => [name, shown.replace(/^none /, '').replace('!', '')]),
  ).toEqual([
    ['id', 'number'],
    ['code', 'array text'],
    ['name_fr', 'number'],
  ]);
  const known = observeFields(CATEGORIES, new Map(), parse(texts));
  expect(observeFields(CATEGORIES, known, parse(texts))).toEqual(new Map());
  const discovered: Kind = {
    ...CATEGORIES,
    fields: [...CATEGORIES.fields, { name: 'rank', type: 'integer' }],
  };
  expect(news(discovered, { rank: 'integer number' }, ['{"rank":"a"}'])).toEqual({
    rank: 'integer number text',
  });
});

test.each(['__proto__', 'constructor', 'toString', 'prototype'])(
  'C12: %s is a field like any other',
  (name) => {
    const found = observeFields(CATEGORIES, new Map(), parse([`{"${name}":1}`, `{"${name}":2.50}`, '{}']));
    expect([...found]).toEqual([[name, seenIn('decimal number')]]);
    expect(({} as Record<string, unknown>)['1']).toBeUndefined();
  },
);

test('neither the order of records nor the cut into pages matters', () => {
  const values = [
    '1',
    '1.5',
    '"2026-01-01"',
    '"2026-01-01 10:00:00"',
    '"0042"',
    'null',
    '""',
    'true',
    '[]',
    '{}',
  ];
  const kind: Kind = { ...CATEGORIES, hints: [decimal('a', 2)] };
  const records = fc.dictionary(fc.constantFrom('a', 'b', 'id'), fc.constantFrom(...values)).map(
    (fields) =>
      `{${Object.entries(fields)
        .map(([name, value]) => `"${name}":${value}`)
        .join(',')}}`,
  );
  fc.assert(
    fc.property(fc.array(records, { maxLength: 6 }), fc.nat(6), (texts, cut) => {
      const all = observeFields(kind, new Map(), parse(texts));
      const first = observeFields(kind, new Map(), parse(texts.slice(0, cut)));
      const second = observeFields(kind, first, parse(texts.slice(cut)));
      const turned = observeFields(kind, new Map(), parse([...texts].reverse()));
      expect(new Map([...first, ...second])).toEqual(all);
      expect(turned).toEqual(all);
      expect(observeFields(kind, all, parse(texts))).toEqual(new Map());
    }),
    { numRuns: 500 },
  );
});

test('what was known is left as it was', () => {
  const known = new Map([['rank', seenIn('integer number')]]);
  observeFields(CATEGORIES, known, parse(['{"rank":"a","other":1}']));
  expect([...known]).toEqual([['rank', seenIn('integer number')]]);
});
