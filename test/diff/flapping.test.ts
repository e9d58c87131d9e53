import { describe, expect, test } from 'vitest';
import { flappingFields, isVolatile } from '../../src/diff/flapping.ts';
import type { ChangedFields } from '../../src/diff/flapping.ts';
import { parseJson } from '../../src/lib/json.ts';
import type { Json } from '../../src/lib/json.ts';

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
