import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from '../../../src/outbound/attempt/conclude.ts';

test('the bound of a wait doubles with every attempt, up to ten minutes', () => {
  const longest = (attempts: number): number => backoffMs(attempts, () => 1);
  expect([0, 1, 2, 6, 7, 50].map(longest)).toEqual([5_000, 10_000, 20_000, 320_000, 600_000, 600_000]);
});

test('half of every wait is certain, the rest is chance', () => {
  const chance = fc.double({ min: 0, max: 0.999999, noNaN: true });
  fc.assert(
    fc.property(fc.nat({ max: 1_000_000 }), chance, (attempts, at) => {
      const wait = backoffMs(attempts, () => at);
      expect(wait).toBeGreaterThanOrEqual(backoffMs(attempts, () => 0));
      expect(wait).toBeLessThanOrEqual(2 * backoffMs(attempts, () => 0));
      expect(wait).toBeGreaterThanOrEqual(2_500);
    }),
  );
});
