import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lookTimes } from '../../../src/outbound/send/decide-settlement.ts';

const RULES = { settleSeconds: 300, patienceSeconds: 86_400, lookScheduleSeconds: [300, 1800, 7200] };
const at = (seconds: number, rules = RULES) => lookTimes(seconds * 1000, rules);

describe('the looks for a send', () => {
  test.each([
    [0, null, 300],
    [299, null, 300],
    [300, 300, 1800],
    [1799, 300, 1800],
    [7200, 7200, 86_400],
    [86_400, 86_400, 172_800],
    [100_000, 86_400, 186_400],
  ])('%i s after it was given up: due since %s, next at %i', (elapsed, due, next) => {
    expect(at(elapsed)).toEqual({ due: due === null ? null : due * 1000, next: next * 1000 });
  });

  test('never begin before the rest has passed, whatever the schedule says', () => {
    expect(at(0, { ...RULES, lookScheduleSeconds: [1, 60, 400] })).toEqual({ due: null, next: 300_000 });
    expect(at(350, { ...RULES, lookScheduleSeconds: [1, 60, 400] })).toEqual({ due: 300_000, next: 400_000 });
  });

  test('are an hour apart at least once patience is over, so that no patience makes them spin', () => {
    expect(at(400, { settleSeconds: 0, patienceSeconds: 0, lookScheduleSeconds: [] }).next).toBe(4_000_000);
  });

  test('are always in the future, and those that are due in the past', () => {
    const seconds = fc.nat({ max: 200_000 });
    const rules = fc.record({
      settleSeconds: seconds,
      patienceSeconds: seconds,
      lookScheduleSeconds: fc.array(seconds, { maxLength: 6 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 1e9 }), rules, (elapsedMs, anyRules) => {
        const { due, next } = lookTimes(elapsedMs, anyRules);
        expect(next).toBeGreaterThan(elapsedMs);
        expect(next).toBeGreaterThanOrEqual(anyRules.settleSeconds * 1000);
        if (due !== null) expect(due).toBeLessThanOrEqual(elapsedMs);
        if (due !== null) expect(due).toBeGreaterThanOrEqual(anyRules.settleSeconds * 1000);
      }),
    );
  });
});
