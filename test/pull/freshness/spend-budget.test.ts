import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  mostTokens,
  rateAt,
  refill,
  slowDown,
  takeToken,
  untilToken,
} from '../../../src/pull/freshness/spend-budget.ts';
import type { Throttled, TokenBucket } from '../../../src/pull/freshness/spend-budget.ts';

const MINUTE_MS = 60_000;
const rates = fc.double({ min: 0.2, max: 600, noNaN: true });
const pauses = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 200 });

test('in no span of time are more tokens taken than come in, and the few that are kept', () => {
  fc.assert(
    fc.property(rates, pauses, (perMinute, gaps) => {
      let bucket: TokenBucket = { tokens: 0, atMs: 0 };
      let nowMs = 0;
      const taken: number[] = [];
      for (const gap of gaps) {
        nowMs += gap;
        for (
          let next = takeToken(bucket, perMinute, nowMs);
          next;
          next = takeToken(bucket, perMinute, nowMs)
        ) {
          bucket = next;
          taken.push(nowMs);
        }
      }
      for (const [index, from] of taken.entries()) {
        const until = taken.at(-1) ?? from;
        const allowed = ((until - from) / MINUTE_MS) * perMinute + mostTokens(perMinute);
        expect(taken.length - index).toBeLessThanOrEqual(allowed + 1e-6);
      }
    }),
  );
});

test('a token is there after the announced time, and not much before', () => {
  fc.assert(
    fc.property(rates, fc.double({ min: -50, max: 0.99, noNaN: true }), (perMinute, tokens) => {
      const bucket = { tokens, atMs: 0 };
      const waitMs = untilToken(bucket, perMinute, 0);
      expect(takeToken(bucket, perMinute, waitMs + 1)).not.toBeNull();
      expect(takeToken(bucket, perMinute, waitMs - 2)).toBeNull();
    }),
  );
});

test('a clock that went back brings no tokens', () => {
  expect(takeToken({ tokens: 0, atMs: 1000 }, 60, 0)).toBeNull();
});

test('processes whose clocks are apart get no token twice', () => {
  fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 60_000 }), (perMinute, apartMs) => {
      const bucket: TokenBucket = { tokens: 0, atMs: apartMs }; // Counted by a clock that is ahead.
      const seen = refill(bucket, perMinute, 0);
      expect(refill(seen, perMinute, apartMs)).toEqual(refill(bucket, perMinute, apartMs));
      expect(takeToken(bucket, perMinute, untilToken(bucket, perMinute, 0) + 1)).not.toBeNull();
    }),
  );
});

test('a clock that was corrected by hours brings tokens again after a minute', () => {
  const corrected = refill({ tokens: 0, atMs: 10_000_000 }, 60, 0);
  expect(takeToken(corrected, 60, MINUTE_MS)).not.toBeNull();
});

const fresh: Throttled = { tokens: 1, atMs: 0, timesHalved: 0, halvedMs: null };

test('every refusal halves the rate, each halving is taken back after ten minutes of calm, and a wait is kept', () => {
  const once = slowDown(fresh, { perMinute: 64, nowMs: 0, waitMs: 30_000 });
  expect(rateAt(once, 64, 0)).toBe(32);
  expect(untilToken(once, 32, 0)).toBeGreaterThanOrEqual(30_000);
  const twice = slowDown(once, { perMinute: 64, nowMs: MINUTE_MS, waitMs: null });
  expect(rateAt(twice, 64, MINUTE_MS)).toBe(16);
  expect(rateAt(twice, 64, 11 * MINUTE_MS)).toBe(32);
  expect(rateAt(twice, 64, 21 * MINUTE_MS)).toBe(64);
  const many = Array.from({ length: 20 }).reduce<Throttled>(
    (bucket) => slowDown(bucket, { perMinute: 64, nowMs: 0, waitMs: null }),
    fresh,
  );
  expect(rateAt(many, 64, 0)).toBe(1);
});

test('a wait that is longer than the calm is kept', () => {
  const slowed = slowDown(fresh, { perMinute: 64, nowMs: 0, waitMs: 15 * MINUTE_MS });
  const atMs = 14 * MINUTE_MS;
  expect(takeToken(slowed, rateAt(slowed, 64, atMs), atMs)).toBeNull();
});
