import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startHistory } from '../../../src/pull/freshness/change-rates.ts';
import { forecastDelays, unseenAges } from '../../../src/pull/freshness/unseen-ages.ts';
import type { ForecastList } from '../../../src/pull/freshness/unseen-ages.ts';
import { watchList, frameOf } from '../../../src/pull/freshness/watched-list.ts';
import type { WatchedList } from '../../../src/pull/freshness/watched-list.ts';

const STRIDE = 4;
const HOUR_MS = 3_600_000;

/** A list whose pages were read at these instants. */
function readAt(readMs: readonly number[], hasTotal: boolean): WatchedList {
  const pages = readMs.map((_, index) => ({
    page: index + 1,
    ids: Array.from({ length: STRIDE }, (_row, row) => String(index * STRIDE + row + 1)),
  }));
  const history = startHistory(-HOUR_MS);
  return watchList({ kind: 'k', order: 'code', hasTotal, history, readMs, frame: frameOf(pages, STRIDE) });
}

const instants = fc.array(fc.integer({ min: 0, max: HOUR_MS }), { minLength: 1, maxLength: 20 });

test('what is not seen is no older than the page that was not read for the longest time', () => {
  fc.assert(
    fc.property(instants, fc.boolean(), (readMs, hasTotal) => {
      const { p50, p95 } = unseenAges(readAt(readMs, hasTotal), HOUR_MS);
      const oldest = (HOUR_MS - Math.min(...readMs)) / 1000;
      expect(p50).toBeGreaterThanOrEqual(0);
      expect(p50).toBeLessThanOrEqual(p95);
      expect(p95).toBeLessThanOrEqual(oldest + 0.1);
      const later = unseenAges(readAt(readMs, hasTotal), 2 * HOUR_MS);
      expect(later.p95).toBeGreaterThanOrEqual(p95);
    }),
  );
});

test('of a page that was read a minute ago, half of what is unseen is younger than half a minute', () => {
  const { p50, p95 } = unseenAges(readAt([0], true), 60_000);
  expect(p50).toBeCloseTo(30, 0);
  expect(p95).toBeCloseTo(57, 0);
  expect(unseenAges(readAt([5000], true), 5000)).toEqual({ p50: 0, p95: 0 });
});

const anyLists = fc.array(
  fc.record({
    ratesOfPages: fc.array(fc.double({ min: 1e-4, max: 5, noNaN: true }), { minLength: 1, maxLength: 30 }),
    sweepMinutes: fc.oneof(fc.constant(null), fc.integer({ min: 5, max: 600 })),
  }),
  { minLength: 1, maxLength: 4 },
);

test('more requests never show anything later, and no change waits for longer than the sweeps let it', () => {
  fc.assert(
    fc.property(anyLists, fc.double({ min: 0.5, max: 500, noNaN: true }), (lists: ForecastList[], budget) => {
      const [half, whole] = [forecastDelays(lists, budget / 2), forecastDelays(lists, budget)];
      expect(whole.p50).toBeLessThanOrEqual(half.p50 + 0.1);
      expect(whole.p95).toBeLessThanOrEqual(half.p95 + 0.1);
      const most = Math.max(...lists.map(({ sweepMinutes }) => sweepMinutes ?? 1440));
      expect(half.p95).toBeLessThanOrEqual(60 * most + 0.1);
    }),
  );
});

test('pages that change alike are read in turn: with ten pages and ten requests a minute, each once a minute', () => {
  const lists = [{ ratesOfPages: Array<number>(10).fill(0.1), sweepMinutes: null }];
  expect(forecastDelays(lists, 10).p50).toBeCloseTo(30, 0);
  expect(forecastDelays(lists, 20).p50).toBeCloseTo(15, 0);
});
