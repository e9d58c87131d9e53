import { randomFrom } from '../../src/sandbox/generate/draw.ts';
import { ANSWER_SHAPES } from '../outbound-simulation/answers.ts';
import { FAULTS } from '../outbound-simulation/fates.ts';
import type { Fate } from '../outbound-simulation/fates.ts';
import { scheduleOf } from '../outbound-simulation/schedule.ts';
import type { KindPlan, Schedule } from '../outbound-simulation/schedule.ts';
import type { KindName } from '../outbound-simulation/shapes.ts';
import { NORMALIZERS } from '../outbound-simulation/written-value.ts';

/** How long and how lively a soak is. */
export interface SoakPlan {
  readonly seed: number;
  readonly days: number;
  /** When the lists are swept, in Toronto's time; the evening is quiet. */
  readonly cron: string;
  /** Of each day. */
  readonly creates: number;
  readonly updates: number;
  readonly peoplesActs: number;
  /** Changes of the world for each list request. */
  readonly churn: number;
  /** Spells of trouble a day, of each sort. */
  readonly spells: number;
  /** Records that people keep in each list, about. */
  readonly rows: number;
  /** What can become of a write that meets a fault. */
  readonly writeFaults: readonly Fate[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const DAY_MS = 24 * HOUR;
/** So long things go wrong; what is left of a day heals it. A day begins at seven in the morning, and heals from midnight. */
export const BUSY_MS = 17 * HOUR;
/** Across the night of 7 to 8 March 2026, in which the clocks are put forward. */
export const TIMEZONE = 'America/Toronto';
/** A write that nobody heard of may still arrive so much later: less than the patience, or nobody could send anything again. */
export const LATEST_COMMIT_MS = 100 * MINUTE;
export const PATIENCE_SECONDS = 9_000;

const SPARSE: Omit<SoakPlan, 'seed' | 'writeFaults'> = {
  ...{ days: 3, cron: '0 0-18 * * *', rows: 12 },
  ...{ creates: 20, updates: 16, peoplesActs: 40, churn: 0.3, spells: 2 },
};

const DENSE: Omit<SoakPlan, 'seed' | 'writeFaults'> = {
  ...{ days: 7, cron: '*/12 0-18 * * *', rows: 30 },
  ...{ creates: 70, updates: 60, peoplesActs: 200, churn: 0.3, spells: 3 },
};

/** A week in deep runs; elsewhere three thinner days, with all that can go wrong. */
export function soakPlan(seed: number, isDeep: boolean): SoakPlan {
  return { seed, writeFaults: FAULTS, ...(isDeep ? DENSE : SPARSE) };
}

const WRITTEN: readonly KindName[] = ['clients', 'punches', 'purchase_products', 'vehicle_brands'];

/** The same as the outbox's own simulation knows it; its troubles are the weather's. */
export function outboundSchedule(plan: SoakPlan): Schedule {
  const random = randomFrom('soak', plan.seed);
  const kinds = WRITTEN.map((name): KindPlan => ({
    ...{ name, rows: plan.rows, hasMeta: true, isNewestFirst: random.chance(0.5) },
    pageSize: random.pick([5, 10]),
    shape: random.pick(ANSWER_SHAPES),
    normalizer: random.chance(0.6) ? 'none' : random.pick(NORMALIZERS),
  }));
  return scheduleOf(plan.seed, {
    ...{ kinds, busyMs: BUSY_MS, latestCommitMs: LATEST_COMMIT_MS, faults: plan.writeFaults },
    ...{ lookAlikes: 0.05, equals: 0.1, conflicts: 0.1, windowEdits: 0.1, together: 0.1 },
    ...{ strangers: 0, precedents: 0, replays: false },
    ...{ crashes: [], pauses: 0, slowestMs: 200, slowestWriteMs: 2_000 },
  });
}
