import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  padToScale,
  decimalPlaces,
  canonicalNumber,
  roundFloatNoise,
} from '../../../src/lib/json/decimal.ts';
import { exactValue } from '../../support/exact.ts';
import { numberTokens } from '../../support/json-models.ts';
import { tries } from '../../support/tiers.ts';

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength, maxLength });
const decimals = fc
  .tuple(fc.constantFrom('', '-'), digits(1, 30), digits(0, 30))
  .map(([sign, whole, fraction]) => `${sign}${whole}${fraction && '.'}${fraction}`);
const SHORTEST = /^(?:0|-?(?:0|[1-9]\d*)\.\d*[1-9]|-?[1-9]\d*)$/;

test('C05: a decimal of 30 digits on each side keeps its value', () => {
  fc.assert(
    fc.property(decimals, (text) => {
      const shortest = canonicalNumber(text) ?? '';
      expect(shortest).toMatch(SHORTEST);
      expect(exactValue(shortest)).toBe(exactValue(text));
    }),
    { numRuns: tries(2000) },
  );
});

test('C06: zeros around a decimal are nothing', () => {
  fc.assert(
    fc.property(decimals, fc.nat(5), fc.nat(5), (text, before, after) => {
      const [sign = '', rest = ''] = text.startsWith('-') ? ['-', text.slice(1)] : ['', text];
      const padded = `${sign}${'0'.repeat(before)}${rest}${rest.includes('.') ? '' : '.0'}${'0'.repeat(after)}`;
      expect(canonicalNumber(padded)).toBe(canonicalNumber(text));
    }),
  );
});

test('padding to a scale keeps the value and never cuts a place', () => {
  fc.assert(
    fc.property(decimals, fc.nat(35), (text, scale) => {
      const shortest = canonicalNumber(text) ?? '';
      const padded = padToScale(shortest, scale);
      expect(exactValue(padded)).toBe(exactValue(text));
      expect(decimalPlaces(padded)).toBe(Math.max(scale, decimalPlaces(shortest)));
      expect(canonicalNumber(padded)).toBe(shortest);
    }),
  );
});

test.each([
  ['0', '0'],
  ['-0', '0'],
  ['-0.000', '0'],
  ['000', '0'],
  ['-00.50', '-0.5'],
  ['10.00', '10'],
  ['100', '100'],
  ['0.10', '0.1'],
  ['007.0070', '7.007'],
  ['99999999999999999999999999.9999', '99999999999999999999999999.9999'],
])('the shortest form of %s is %s', (text, shortest) => {
  expect(canonicalNumber(text)).toBe(shortest);
});

test.each(
  // prettier-ignore
  [
    '', '.', '.5', '5.', '+1', '--1', '1e', 'e3', '1e3.5', '1e 3', '0x10', '1,5', ' 1', '1 ', '1\n', '١٢',
    'NaN', 'Infinity',
  ],
)('C04: %j is no decimal', (text) => {
  expect(canonicalNumber(text)).toBeNull();
});

test('C03: a JSON number keeps its value, exponent included', () => {
  fc.assert(
    fc.property(numberTokens, (token) => {
      const shortest = canonicalNumber(token) ?? '';
      expect(shortest).toMatch(SHORTEST);
      expect(exactValue(shortest)).toBe(exactValue(token));
    }),
    { numRuns: tries(2000) },
  );
});

test.each([
  ['1e2', '100'],
  ['1E+2', '100'],
  ['1.5e-3', '0.0015'],
  ['-2.50e1', '-25'],
  ['-0e0', '0'],
  ['1e00003', '1000'],
  ['-1.5e-2', '-0.015'],
  ['12.34e1', '123.4'],
  ['0012e-3', '0.012'],
  ['0e-400', '0'],
  ['1e400', `1${'0'.repeat(400)}`],
  ['1e-400', `0.${'0'.repeat(399)}1`],
])('the number %s is exactly %s', (token, shortest) => {
  expect(canonicalNumber(token)).toBe(shortest);
});

test.each(['1e401', '1e-401', '1e9999', '1e99999', '1e999999999999', '0x10', '', 'null'])(
  'the number %s is not written out',
  (token) => {
    expect(canonicalNumber(token)).toBeNull();
  },
);

test.each([
  ['0.000000000000001', '0'],
  ['-4.440892098500626e-16', '0'],
  ['1.1641532182693481e-10', '0'],
  ['0.0010000000000001', '0.001'],
  ['0.05000000000000000277', '0.05'],
  ['7349.300000000001', '7349.3'],
  ['0.000000001234', null],
  ['0.00001', null],
  ['123456789012345.1234', null],
  ['123456789012.40001', '123456789012.4'],
  ['1234567890.12345', null],
])('%s is %s with the noise of floats; null = it has none', (noisy, amount) => {
  expect(roundFloatNoise(noisy)).toBe(amount);
});

test.each([
  ['0', 2, '0.00'],
  ['-0.5', 2, '-0.50'],
  ['1.234', 2, '1.234'],
  ['7', 0, '7'],
  ['12.3', 4, '12.3000'],
])('%s at scale %i is %s', (shortest, scale, padded) => {
  expect(padToScale(shortest, scale)).toBe(padded);
});

test.each([
  ['zeros before a last digit', `0.${'0'.repeat(1_000_000)}1`],
  ['leading zeros', `${'0'.repeat(1_000_000)}1`],
  ['zeros and digits in turn', `1.${'0001'.repeat(250_000)}`],
  ['an exponent of many digits', `1e${'9'.repeat(1_000_000)}`],
  ['many digits before an exponent', `${'9'.repeat(1_000_000)}e3`],
  ['no number after all', `1.${'0'.repeat(1_000_000)}x`],
])(
  'a long hostile text costs no more than its length, the square of which would not end: %s',
  (_name, text) => {
    canonicalNumber(text);
  },
);
