import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Reading } from '../../../src/store/kinds/kind-standing.ts';
import { uncertifiedMs, waitMs } from '../../../src/outbound/send/decide-settlement.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';

const seconds = fc.nat({ max: 200_000 });
const rules = fc.record({ settleSeconds: seconds, patienceSeconds: seconds });
const stood = fc.option(fc.nat({ max: 1e9 }));

test('patience is the settling time, a 24th with the time in which the clock stood, or all of it', () => {
  fc.assert(
    fc.property(rules, stood, fc.boolean(), (some, stoodMs, isWaitEnded) => {
      const settleMs = some.settleSeconds * 1000;
      const allMs = Math.max(settleMs, some.patienceSeconds * 1000);
      const ms = waitMs({ isWaitEnded, stoodMs, rules: some });
      expect(ms).toBeGreaterThanOrEqual(settleMs);
      expect(ms).toBeLessThanOrEqual(allMs);
      if (isWaitEnded) expect(ms).toBe(settleMs);
      else if (stoodMs === null) expect(ms).toBe(allMs);
      else {
        expect(ms).toBeGreaterThanOrEqual(Math.min(allMs, Math.floor(some.patienceSeconds * 1000) / 24 - 1));
        expect(ms).toBeGreaterThanOrEqual(Math.min(allMs, stoodMs));
        const longer = waitMs({ isWaitEnded, stoodMs: stoodMs + 60_000, rules: some });
        expect(longer).toBeGreaterThanOrEqual(ms);
      }
    }),
  );
});

/** Sweeps that end at these minutes, in their order. */
const readingsOf = (ends: readonly (readonly [minute: number, isCertified: boolean])[]): Reading[] =>
  ends.map(([minute, isCertified], at) => ({
    runId: at,
    state: isCertified ? 'certified' : 'invalid',
    reason: null,
    certifiedAt: null,
    startedAt: formatInstant(new Date(minute * 60_000)),
    rows: 1,
    durationMs: 0,
  }));

test('the clock stands from the end of a sweep that certified nothing to the end of one that did', () => {
  const end = fc.tuple(fc.nat({ max: 500 }), fc.boolean());
  fc.assert(
    fc.property(fc.array(end), fc.nat({ max: 500 }), fc.nat({ max: 500 }), (ends, from, length) => {
      const sorted = ends.toSorted(([a], [b]) => a - b);
      const to = from + length;
      let expected = 0; // Minute by minute, in place of intervals.
      for (let minute = from; minute < to; minute++)
        if (sorted.findLast(([ended]) => ended <= minute)?.[1] === false) expected++;
      expect(uncertifiedMs(readingsOf(sorted), from * 60_000, to * 60_000)).toBe(expected * 60_000);
    }),
  );
});
