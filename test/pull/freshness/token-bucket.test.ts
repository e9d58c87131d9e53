import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  pauseTokens,
  maxTokens,
  refilledBudget,
  takeToken,
  msUntilToken,
} from '../../../src/pull/freshness/token-bucket.ts';
import type { RequestBudget } from '../../../src/pull/freshness/request-budget.ts';

const MINUTE_MS = 60_000;
const rates = fc.double({ min: 0.2, max: 600, noNaN: true });
const pauses = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 200 });

test('in no span of time are more tokens taken than come in, and the few that are kept', () => {
  fc.assert(
    fc.property(rates, pauses, (perMinute, gaps) => {
      let bucket: RequestBudget = { tokens: 0, atMs: 0 };
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
        const allowed = ((until - from) / MINUTE_MS) * perMinute + maxTokens(perMinute);
        expect(taken.length - index).toBeLessThanOrEqual(allowed + 1e-6);
      }
    }),
  );
});

test('a token is there after the announced time, and not much before', () => {
  fc.assert(
    fc.property(rates, fc.double({ min: -50, max: 0.99, noNaN: true }), (perMinute, tokens) => {
      const bucket = { tokens, atMs: 0 };
      const waitMs = msUntilToken(bucket, perMinute, 0);
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
      const bucket: RequestBudget = { tokens: 0, atMs: apartMs }; // Counted by a clock that is ahead.
      const seen = refilledBudget(bucket, perMinute, 0);
      expect(refilledBudget(seen, perMinute, apartMs)).toEqual(refilledBudget(bucket, perMinute, apartMs));
      expect(takeToken(bucket, perMinute, msUntilToken(bucket, perMinute, 0) + 1)).not.toBeNull();
    }),
  );
});

test('a clock that was corrected by hours brings tokens again after a minute', () => {
  const corrected = refilledBudget({ tokens: 0, atMs: 10_000_000 }, 60, 0);
  expect(takeToken(corrected, 60, MINUTE_MS)).not.toBeNull();
});

test('no token is given for as long as the service has asked to be left alone', () => {
  const held = pauseTokens({ tokens: 1, atMs: 0 }, 60, 0, 15 * MINUTE_MS);
  expect(takeToken(held, 60, 15 * MINUTE_MS)).toBeNull();
  expect(takeToken(held, 60, 15 * MINUTE_MS + 1001)).not.toBeNull();
});
