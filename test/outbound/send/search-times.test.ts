import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { searchTimes } from '../../../src/outbound/send/decide-settlement.ts';

const RULES = { settleSeconds: 300, patienceSeconds: 86_400 };
const at = (seconds: number, rules = RULES) =>
  searchTimes({ elapsedMs: seconds * 1000, stoodMs: null, rules });

describe('the looks for a send', () => {
  test.each([
    [0, null, 300],
    [299, null, 300],
    [300, 300, 3600],
    [3600, 3600, 21_600],
    [21_600, 21_600, 43_200],
    [43_200, 43_200, 86_400],
    [86_400, 86_400, 172_800],
    [100_000, 86_400, 172_800],
    [172_800, 172_800, 259_200],
  ])('%i s after it was lost: due since %s, next at %i', (elapsed, due, next) => {
    expect(at(elapsed)).toEqual({ due: due === null ? null : due * 1000, next: next * 1000 });
  });

  test('never begin before the rest has passed, however short patience is', () => {
    expect(at(0, { settleSeconds: 300, patienceSeconds: 60 })).toEqual({ due: null, next: 300_000 });
    expect(at(300, { settleSeconds: 300, patienceSeconds: 60 })).toEqual({ due: 300_000, next: 3_900_000 });
  });

  test('are an hour apart at least once patience is over, so that no patience makes them spin', () => {
    expect(at(400, { settleSeconds: 0, patienceSeconds: 0 }).next).toBe(3_600_000);
  });

  test('are always in the future, and those that are due in the past', () => {
    const seconds = fc.nat({ max: 200_000 });
    const elapsed = fc.integer({ min: 0, max: 1e9 });
    const stood = fc.constantFrom(null, 0, 5_000_000);
    const rules = fc.record({ settleSeconds: seconds, patienceSeconds: seconds });
    fc.assert(
      fc.property(elapsed, stood, rules, (elapsedMs, stoodMs, anyRules) => {
        const { due, next } = searchTimes({ elapsedMs, stoodMs, rules: anyRules });
        expect(next).toBeGreaterThan(elapsedMs);
        expect(next).toBeGreaterThanOrEqual(anyRules.settleSeconds * 1000);
        if (due !== null) expect(due).toBeLessThanOrEqual(elapsedMs);
        if (due !== null) expect(due).toBeGreaterThanOrEqual(anyRules.settleSeconds * 1000);
      }),
    );
  });
});
