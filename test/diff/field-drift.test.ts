import { describe, expect, test } from 'vitest';
import { presenceDrift, valueDrift, flappingFields, isVolatile } from '../../src/diff/field-drift.ts';
import type { FieldDrift, ChangedFields } from '../../src/diff/field-drift.ts';
import { parseJson } from '../../src/lib/json/json.ts';
import type { Json } from '../../src/lib/json/json.ts';

/** Fields by name: the JSON types that came; `gone` is missing since yesterday. */
type Known = Record<string, string | { gone: string }>;

const YESTERDAY = '2026-02-28 12:00:00.000';

function drift(
  before: Known,
  after: Record<string, string>,
  present = Object.keys(after),
): readonly FieldDrift[] {
  const seen = (wire: string) => ({ type: 'text' as const, fitsHint: false, wire });
  const known = new Map(
    Object.entries(before).map(([name, was]) => [
      name,
      typeof was === 'string'
        ? { ...seen(was), vanishedAt: null }
        : { ...seen(was.gone), vanishedAt: YESTERDAY },
    ]),
  );
  const now = new Map(Object.entries(after).map(([name, wire]) => [name, seen(wire)]));
  return [...valueDrift(known, now), ...presenceDrift(known, new Set(present))];
}

describe('from one sweep to the next', () => {
  test('nothing has changed', () => {
    expect(drift({ a: 'number', b: { gone: 'text' } }, { a: 'number', b: 'text' }, ['a'])).toEqual([]);
  });

  test('a field is new', () => {
    expect(drift({ a: 'text' }, { a: 'text', b: 'number', c: '' })).toEqual([
      { code: 'new_field', field: 'b', detail: 'sent as number' },
      { code: 'new_field', field: 'c', detail: 'sent as null' },
    ]);
  });

  test('a field has vanished', () => {
    expect(drift({ a: 'text', b: 'text' }, { a: 'text', b: 'text' }, ['a'])).toEqual([
      { code: 'vanished_field', field: 'b', detail: 'no record has it' },
    ]);
  });

  test('a field is back, as another type', () => {
    expect(drift({ a: { gone: 'text' } }, { a: 'number text' })).toEqual([
      { code: 'retyped_field', field: 'a', detail: 'was sent as text, now number text' },
      { code: 'returned_field', field: 'a', detail: `was missing since ${YESTERDAY}` },
    ]);
  });

  test('a field of which only nulls had come has its first value: no drift', () => {
    expect(drift({ a: '' }, { a: 'number' })).toEqual([]);
  });

  test('an empty list tells nothing', () => {
    expect(drift({ a: 'text' }, { a: 'text' }, [])).toEqual([]);
  });

  test('C12: a field may be called anything', () => {
    const named = (wire: string) =>
      Object.fromEntries([
        ['__proto__', wire],
        ['constructor', wire],
      ]);
    expect(drift({}, named('text')).map(({ field }) => field)).toEqual(['__proto__', 'constructor']);
    expect(drift(named('text'), named('text'))).toEqual([]);
  });
});

/** The events of one field that took these values, one after the other. */
function events(...values: readonly Json[]): ChangedFields[] {
  return values.slice(1).map((value, index) => ({ price: [values[index] ?? null, value] }));
}

describe('a field flaps', () => {
  test.each<[string, readonly Json[], boolean]>([
    ['a→b→a→b', ['a', 'b', 'a', 'b'], true],
    ['x→a→b→a→b→y', ['x', 'a', 'b', 'a', 'b', 'y'], true],
    ['null→1→null→1', [null, 1, null, 1], true],
    ['a→b→a', ['a', 'b', 'a'], false],
    ['a→b→c→d', ['a', 'b', 'c', 'd'], false],
    ['a→b→c→a→b→c', ['a', 'b', 'c', 'a', 'b', 'c'], false],
    ['a→b→a→c→a', ['a', 'b', 'a', 'c', 'a'], false],
  ])('%s: %#', (_, values, flaps) => {
    expect(flappingFields(events(...values))).toEqual(flaps ? ['price'] : []);
  });

  test('by what its values mean, not by how they are spelt', () => {
    const [one, also] = [parseJson('{"a":1,"b":2.0}'), parseJson('{"b":2,"a":1}')];
    expect(flappingFields(events(one, 'x', also, 'x'))).toEqual(['price']);
  });

  test('though other fields change in between, and alone', () => {
    const history: ChangedFields[] = [
      { price: [1, 2], name: ['a', 'b'] },
      { stock: [1, 2] },
      { price: [2, 1], name: ['b', 'c'] },
      { price: [1, 2], stock: [2, 1] },
    ];
    expect(flappingFields(history)).toEqual(['price']);
  });

  test('never where nothing happened', () => {
    expect(flappingFields([])).toEqual([]);
  });

  test('whatever its name', () => {
    const values: [Json, Json][] = [
      [1, 2],
      [2, 1],
      [1, 2],
    ];
    expect(flappingFields(values.map((value) => Object.fromEntries([['__proto__', value]])))).toEqual([
      '__proto__',
    ]);
  });
});

test.each([
  [20, 40, true],
  [20, 20, true],
  [20, 41, false],
  [19, 19, false],
  [0, 0, false],
  [500, 1000, true],
])('%i of %i rows changed: volatile %s', (changed, rows, volatile) => {
  expect(isVolatile(changed, rows)).toBe(volatile);
});
