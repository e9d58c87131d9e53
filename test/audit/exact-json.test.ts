import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactNumber, isSameJson } from '../../src/audit/exact-json.ts';
import { parseJson } from '../../src/lib/json.ts';
import { exactValue } from '../support/exact.ts';
import { meaning, models, numberTokens, respelled, spell } from '../support/json-models.ts';

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
