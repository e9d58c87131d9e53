import { ALL_PAGES, NINE_IN_TEN } from '../../test/pull/freshness/delay-world.ts';
import type { Churn } from '../../test/pull/freshness/delay-world.ts';
import { playDelays } from '../../test/pull/freshness/delay-run.ts';
import { mean, quantile } from '../../test/pull/freshness/delay-measure.ts';

/** How the requests of a day are spent: on sweeps alone, or also between them. */
export type Way = 'sweeps alone' | 'beside sweeps every 15 minutes' | 'with sweeps every two hours';

export interface DayPlan {
  readonly way: Way;
  readonly sweepMinutes: number;
  /** Requests in a minute between sweeps; null = sweeps only. */
  readonly perMinute: number | null;
  readonly churn: Churn;
}

/** What a day has shown; delays in seconds. */
export interface Day extends DayPlan {
  /** Requests in a minute, sweeps included. */
  readonly requests: number;
  /** 95 of 100 new records are seen within: in lists by creation, in others that tell their total, in the rest, in all. */
  readonly byCreation: number;
  readonly byTotal: number;
  readonly withoutTotal: number;
  readonly created: number;
  /** 95 of 100 deletions are suspected within. */
  readonly deleted: number;
  /** Updates are seen after so long on average. */
  readonly updated: number;
}

const DEFAULT_BUDGET = 10;
const FACTORS = [0.5, 1, 2, 4];
const QUARTER_HOUR = 15;
const TWO_HOURS = 120;
/** Requests in a minute of sweeps every 15 minutes. */
export const USUAL_REQUESTS = ALL_PAGES / QUARTER_HOUR;

/** The days of the table: the default budget, and the requests of sweeps every 15 minutes, by a half, one, two and four. */
export const DAYS: readonly DayPlan[] = [
  ...FACTORS.map((factor): DayPlan => sweepsAlone(QUARTER_HOUR / factor, NINE_IN_TEN)),
  ...FACTORS.map((factor): DayPlan => {
    const way = 'beside sweeps every 15 minutes';
    return { way, sweepMinutes: QUARTER_HOUR, perMinute: factor * DEFAULT_BUDGET, churn: NINE_IN_TEN };
  }),
  ...FACTORS.map((factor): DayPlan => sweepsSeldom(factor, NINE_IN_TEN)),
];

export function sweepsAlone(sweepMinutes: number, churn: Churn): DayPlan {
  return { way: 'sweeps alone', sweepMinutes, perMinute: null, churn };
}

/** Whole sweeps every two hours, and the rest of so many times the usual requests between them. */
export function sweepsSeldom(factor: number, churn: Churn): DayPlan {
  const perMinute = factor * USUAL_REQUESTS - ALL_PAGES / TWO_HOURS;
  return { way: 'with sweeps every two hours', sweepMinutes: TWO_HOURS, perMinute, churn };
}

/** Plays a day in the simulated world. */
export function playDay(
  plan: DayPlan,
  { hours, seed }: { readonly hours: number; readonly seed: string },
): Day {
  const { created, deleted, updated, perMinute } = playDelays({ ...plan, hours, warmUpHours: 2, seed });
  const p95 = (delays: readonly number[]): number => quantile(delays, 0.95) / 1000;
  return {
    ...plan,
    requests: perMinute,
    byCreation: p95(created['by creation']),
    byTotal: p95(created['by total']),
    withoutTotal: p95(created['read whole']),
    created: p95(Object.values(created).flat()),
    deleted: p95(deleted),
    updated: mean(updated) / 1000,
  };
}
