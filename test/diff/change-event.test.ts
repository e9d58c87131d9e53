import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldChanges } from '../../src/diff/change-event.ts';
import { compactJson, isArray, isObject, parseJson } from '../../src/lib/json/json.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { records, spell } from '../support/json-models.ts';

const object = (text: string): JsonObject => {
  const value = parseJson(text);
  return isObject(value) ? value : expect.fail(`${text} is no object`);
};

describe('the changed fields of a record', () => {
  test.each<[string, readonly string[], string, string, string]>([
    ['values before and after', ['name'], '{"name":"a","x":1}', '{"name":"b","x":2}', '{"name":["a","b"]}'],
    ['a field that came', ['new'], '{}', '{"new":1}', '{"new":[null,1]}'],
    ['a field that went', ['old'], '{"old":1}', '{}', '{"old":[1,null]}'],
    ['the order asked for', ['b', 'a'], '{"a":1,"b":1}', '{"a":2,"b":2}', '{"b":[1,2],"a":[1,2]}'],
    ['none', [], '{"a":1}', '{"a":2}', '{}'],
    [
      'numbers as received',
      ['total', 'n'],
      '{"total":10.00,"n":12345678901234567890}',
      '{"total":1e2,"n":-0.0}',
      '{"total":[10.00,1e2],"n":[12345678901234567890,-0.0]}',
    ],
    [
      'nested values whole',
      ['contacts'],
      '{"contacts":[{"id":1}]}',
      '{"contacts":[{"id":1},{"id":2.50}]}',
      '{"contacts":[[{"id":1}],[{"id":1},{"id":2.50}]]}',
    ],
    ['names with a meaning of their own', ['__proto__'], '{"__proto__":1}', '{}', '{"__proto__":[1,null]}'],
    [
      'nothing inherited',
      ['toString', 'constructor'],
      '{}',
      '{"toString":1}',
      '{"toString":[null,1],"constructor":[null,null]}',
    ],
  ])('tell %s', (_name, names, before, after, fields) => {
    expect(fieldChanges(names, object(before), object(after))).toBe(fields);
  });

  test('can be read again: each field with exactly its two values', () => {
    fc.assert(
      fc.property(records, records, (first, second) => {
        const [before, after] = [object(spell(first)), object(spell(second))];
        const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
        const read = object(fieldChanges(names, before, after));
        expect(Object.keys(read).sort()).toEqual(names.sort());
        for (const name of names) {
          const pair = Object.hasOwn(read, name) ? read[name] : null;
          const texts = isArray(pair ?? null) ? (pair as readonly never[]).map(compactJson) : [];
          expect(texts).toEqual(
            [before, after].map((side) =>
              Object.hasOwn(side, name) ? compactJson(side[name] ?? null) : 'null',
            ),
          );
        }
      }),
    );
  });
});
