import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalJson,
  compactJson,
  isArray,
  isNestedDeeper,
  isNumber,
  isObject,
  parseJson,
  type Json,
} from '../../../src/lib/json/json.ts';
import { sized, tries } from '../../support/tiers.ts';
import {
  meaning,
  modelOf,
  models,
  NASTY_NAMES,
  NASTY_NUMBERS,
  NASTY_STRINGS,
  numberTokens,
  records,
  respelled,
  sorted,
  spell,
  spelled,
  type Model,
} from '../../support/json-models.ts';

const canonical = (model: Model): string => canonicalJson(parseJson(spell({ array: [model] })));

describe('parseJson', () => {
  test('C03: keeps every number token, string and member, however they are spelled', () => {
    fc.assert(
      fc.property(spelled, ({ model, text }) => {
        expect(modelOf(parseJson(text))).toEqual(sorted(model));
      }),
      { numRuns: tries(1000) },
    );
  });

  test('C03: keeps a number that is the whole text', () => {
    fc.assert(
      fc.property(numberTokens, (token) => {
        expect(modelOf(parseJson(token))).toEqual({ number: token });
      }),
    );
  });

  test.each(NASTY_NUMBERS.map((token) => [token]))('C03: keeps the token %s wherever it stands', (token) => {
    for (const text of [
      `[${token}]`,
      `[1,${token}]`,
      `{"a":${token}}`,
      `{"a":\n\t ${token} }`,
      `[[],${token}\r\n]`,
    ])
      expect(compactJson(parseJson(text))).toBe(text.replaceAll(/\s/g, ''));
  });

  test('C03: ids that a float would merge stay apart', () => {
    const parsed = parseJson('[9007199254740992,9007199254740993]');
    expect(isArray(parsed) && parsed.map(String)).toEqual(['9007199254740992', '9007199254740993']);
  });

  test('reads what JSON.parse reads and refuses what it refuses', () => {
    // prettier-ignore
    const pieces = [
      '{', '}', '[', ']', ',', ':', '"a"', '1', '-0', '1.5', '"', 'true', 'nul', ' ', '\\u00', '1e', '.',
    ];
    const read = (parser: (text: string) => unknown, text: string): boolean => {
      try {
        parser(text);
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
        return false;
      }
    };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        expect(read(parseJson, text)).toBe(read(JSON.parse, text));
      }),
      { numRuns: sized({ quick: 1_000, acceptance: 3_000, deep: 3_000 }) },
    );
  });

  test.each([
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":1.5,"a":2.50}', '{"a":2.50}'],
    ['{"a":1.5,"b":1,"a":{"c":[]}}', '{"a":{"c":[]},"b":1}'],
  ])('B15: of a name that comes twice the last counts: %s', (text, expected) => {
    expect(compactJson(parseJson(text))).toBe(expected);
  });

  test.each(['[]', '[1.5]'])('B14: 200,000 levels around %s are read or refused, never a crash', (inner) => {
    const deep = '['.repeat(200_000) + inner + ']'.repeat(200_000);
    try {
      expect(isArray(parseJson(deep))).toBe(true);
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
  });
});

describe('C12: names of the prototype', () => {
  test.each([
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'toJSON',
    'isLosslessNumber',
  ])('%s is a member like any other', (name) => {
    for (const value of ['{"polluted":1}', '{"polluted":1.50}', '1.50', 'null', '"text"', 'true']) {
      const text = `{"a":1,"${name}":${value}}`;
      const parsed = parseJson(text) as Record<string, Json>;
      expect(Object.keys(parsed)).toEqual(['a', name]);
      expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
      expect(compactJson(parsed)).toBe(text);
      expect(meaning(modelOf(parseJson(canonicalJson(parsed))))).toBe(meaning(modelOf(parsed)));
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    }
  });
});

describe('compactJson', () => {
  test('writes what was received, but for spaces and escapes', () => {
    fc.assert(
      fc.property(spelled, ({ model, text }) => {
        const compact = compactJson(parseJson(text));
        expect(modelOf(parseJson(compact))).toEqual(sorted(model));
        expect(compactJson(parseJson(compact))).toBe(compact);
      }),
    );
  });
});

describe('C17: canonicalJson', () => {
  test('equal values have equal texts: order of members and spelling of numbers are nothing', () => {
    fc.assert(
      fc.property(models, (model) => {
        expect(canonical(respelled(model))).toBe(canonical(model));
      }),
    );
  });

  test('texts are equal exactly where values are', () => {
    const few = fc.oneof(
      fc.constantFrom(...NASTY_NUMBERS.filter((token) => token !== '1E400')).map((number) => ({ number })),
      fc.constantFrom(...NASTY_STRINGS, 'null', 'true', '0').map((string) => ({ string })),
      fc.constantFrom(true, false, null).map((word) => ({ word })),
    );
    const small: fc.Arbitrary<Model> = fc.oneof(
      few,
      fc.array(few, { maxLength: 2 }).map((array) => ({ array })),
      fc
        .uniqueArray(fc.tuple(fc.constantFrom(...NASTY_NAMES), few), {
          maxLength: 2,
          selector: ([name]) => name,
        })
        .map((object) => ({ object })),
    );
    fc.assert(
      fc.property(small, small, (one, other) => {
        expect(canonical(one) === canonical(other)).toBe(meaning(one) === meaning(other));
      }),
      { numRuns: sized({ quick: 1_000, acceptance: 5_000, deep: 5_000 }) },
    );
  });

  test('is JSON of the same value, and its own canonical text', () => {
    fc.assert(
      fc.property(records, (model) => {
        const text = canonicalJson(parseJson(spell(model)));
        expect(canonicalJson(parseJson(text))).toBe(text);
        const beyond = /[eE]4\d\d/.test(spell(model));
        expect(beyond || meaning(modelOf(parseJson(text))) === meaning(model)).toBe(true);
      }),
    );
  });

  test.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    ['[10.00,1e1,10]', '[10,10,10]'],
    ['[-0,-0.0,0]', '[0,0,0]'],
    ['["10.00"]', '["10.00"]'],
    ['[0.10000000000000000000000000001]', '[0.10000000000000000000000000001]'],
    ['[1e99999]', '[1e99999]'],
    ['["\\u00e9","\\ud83d\\ude00","\\u0000"]', '["é","😀","\\u0000"]'],
    ['{}', '{}'],
    ['[]', '[]'],
  ])('of %s is %s', (text, expected) => {
    expect(canonicalJson(parseJson(text))).toBe(expected);
  });
});

test.each([
  ['null', [false, false, false]],
  ['"1"', [false, false, false]],
  ['[1.5]', [false, true, false]],
  ['{"a":1.5}', [false, false, true]],
  ['{"isLosslessNumber":true}', [false, false, true]],
])('%s is told apart', (text, expected) => {
  const value = parseJson(text);
  expect([isNumber(value), isArray(value), isObject(value)]).toEqual(expected);
});

test('a number is told apart, rounded or not', () => {
  const parsed = parseJson('[1,1.5]');
  expect(isArray(parsed) && parsed.map((value) => [isNumber(value), isObject(value)])).toEqual([
    [true, false],
    [true, false],
  ]);
});

test.each([
  ['1', 0, false],
  ['[]', 0, true],
  ['[]', 1, false],
  ['[[]]', 1, true],
  ['[1.5,{"a":[]}]', 2, true],
  ['[1.5,{"a":[]}]', 3, false],
  ['{"__proto__":{"a":1}}', 1, true],
])('B14: that %s is nested deeper than %i is %s', (text, levels, expected) => {
  expect(isNestedDeeper(parseJson(text), levels)).toBe(expected);
});
