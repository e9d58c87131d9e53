import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from '../../../src/lib/time/backoff.ts';

const HALF_FIXED = { firstMs: 10_000, mostMs: 600_000, fixedShare: 0.5 };

test('the bound of a wait doubles with every attempt, up to the longest', () => {
  const longest = (attempt: number): number => backoffMs(HALF_FIXED, attempt, () => 1);
  expect([1, 2, 6, 7, 50, 10_000].map(longest)).toEqual([10_000, 20_000, 320_000, 600_000, 600_000, 600_000]);
});

test('the fixed share of every wait is certain, the rest is chance', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), share, share, (attempt, fixedShare, at) => {
      const waitAt = (random: number): number =>
        backoffMs({ ...HALF_FIXED, fixedShare }, attempt, () => random);
      expect(waitAt(0)).toBe(Math.round(waitAt(1) * fixedShare));
      expect(waitAt(at)).toBeGreaterThanOrEqual(waitAt(0));
      expect(waitAt(at)).toBeLessThanOrEqual(waitAt(1));
    }),
  );
});
