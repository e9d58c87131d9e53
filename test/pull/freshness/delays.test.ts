import { expect, test } from 'vitest';
import { sized } from '../../support/tiers.ts';
import { mean, quantile } from './delay-measure.ts';
import type { Delays } from './delay-measure.ts';
import { playDelays } from './delay-run.ts';
import { ALL_PAGES, EIGHT_IN_TEN, NINE_IN_TEN } from './delay-world.ts';
import type { Churn } from './delay-world.ts';

const hours = sized({ quick: 4, acceptance: 24, deep: 24 });
const warmUpHours = 2;
const TIMEOUT_MS = 600_000;
const SECOND_MS = 1000;

/** Requests in a minute of sweeps every 15 minutes, of which whole sweeps every two hours leave so many. */
const ALL = ALL_PAGES / 15;
const BETWEEN = ALL - ALL_PAGES / 120;

const fixed = (churn: Churn): Delays =>
  playDelays({ hours, warmUpHours, perMinute: null, sweepMinutes: 15, churn, seed: 'a' });
const spent = (churn: Churn): Delays =>
  playDelays({ hours, warmUpHours, perMinute: BETWEEN, sweepMinutes: 120, churn, seed: 'a' });

const p95 = (delays: readonly number[]): number => quantile(delays, 0.95) / SECOND_MS;

test(
  'with the requests of sweeps every 15 minutes, everything is seen sooner',
  () => {
    const cases = [[NINE_IN_TEN, 0.6] as const, [EIGHT_IN_TEN, 0.95] as const];
    for (const [churn, share] of cases.slice(0, sized({ quick: 1, acceptance: 2, deep: 2 }))) {
      const [sweeps, delays] = [fixed(churn), spent(churn)];
      expect(delays.perMinute).toBeLessThanOrEqual(1.01 * ALL);
      expect(p95(delays.created['by creation'])).toBeLessThanOrEqual(60);
      expect(p95(delays.created['by total'])).toBeLessThanOrEqual(60);
      expect(p95(delays.deleted)).toBeLessThanOrEqual(120);
      expect(mean(delays.updated)).toBeLessThanOrEqual(share * mean(sweeps.updated));
    }
  },
  TIMEOUT_MS,
);

test(
  'the default budget beside sweeps every 15 minutes shows new records within 90 and 150 seconds',
  () => {
    const plan = { hours, warmUpHours, perMinute: 10, sweepMinutes: 15, churn: NINE_IN_TEN };
    for (const seed of ['a', 'b', 'c'].slice(0, sized({ quick: 1, acceptance: 3, deep: 3 }))) {
      const { created, perMinute } = playDelays({ ...plan, seed });
      expect(p95(created['by creation'])).toBeLessThanOrEqual(90);
      expect(p95(created['by total'])).toBeLessThanOrEqual(150);
      expect(p95(created['read whole'])).toBeLessThanOrEqual(150);
      expect(perMinute).toBeLessThanOrEqual(1.01 * (ALL + 10));
    }
  },
  TIMEOUT_MS,
);
