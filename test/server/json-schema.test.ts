import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LARGEST_BOUND, LARGEST_INTEGER, patternUpTo, writtenExactly } from '../../src/server/json-schema.ts';

const takes = (largest: bigint, text: string): boolean =>
  new RegExp(`^(?:${patternUpTo(String(largest))})$`).test(text);

test('the pattern takes the whole numbers from 1 to the largest, and nothing else', () => {
  const largest = fc.bigInt({ min: 1n, max: 10n ** 20n });
  const near = fc.bigInt({ min: -12n, max: 12n });
  fc.assert(
    fc.property(
      largest,
      fc.oneof(near, fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n })),
      (bound, distance) => {
        const number = bound + distance;
        expect(takes(bound, String(number))).toBe(number >= 1n && number <= bound);
      },
    ),
  );
  for (const text of ['', '0', '01', '+1', '1.0', ' 1', '1e1'])
    expect(takes(2n ** 63n - 1n, text)).toBe(false);
});

test('bounds of 64 bits are written to the digit', () => {
  expect(writtenExactly({ minimum: -LARGEST_BOUND, maximum: LARGEST_BOUND, other: 12 })).toBe(
    `{"minimum":-9223372036854775808,"maximum":${LARGEST_INTEGER},"other":12}`,
  );
});
