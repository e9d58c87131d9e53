import type { NetworkPlan } from '../simulation/network.ts';
import type { ServedKind } from '../simulation/service.ts';
import { CHANGES } from '../simulation/world.ts';
import type { Change } from '../simulation/world.ts';
import type { SoakPlan } from './plan.ts';

/** Troubles that come and go; the worst that is on counts. */
export const TROUBLES = ['outage', 'storm', 'slow'] as const;
export type Trouble = (typeof TROUBLES)[number];

/** What goes wrong at this moment. */
export interface Weather {
  /** The troubles that are on, one for each spell of it. */
  readonly on: Trouble[];
  readonly reads: NetworkPlan;
  /** Share of the writes that meet a fault. */
  readonly troubles: () => number;
}

/** Shares of the reads that are lost or answered with nonsense, and of the writes that meet a fault. */
const SHARES = {
  fair: { passing: 0.03, nonsense: 0.004, writes: 0.3 },
  slow: { passing: 0.03, nonsense: 0.004, writes: 0.3 },
  storm: { passing: 0.2, nonsense: 0.05, writes: 0.7 },
  outage: { passing: 1, nonsense: 0, writes: 1 },
} as const;

const NO_FAULTS = { passing: 0, nonsense: 0 };
const [FAST_MS, SLOW_MS] = [200, 8_000]; // One read in ten takes up to eight times as long: longer than we wait for it.

export interface Sky {
  readonly plan: SoakPlan;
  /** The list that is only read, and its service: its records change while it is read. */
  readonly read: ServedKind;
  readonly nowMs: () => number;
  readonly isCalm: () => boolean;
}

export function createWeather({ plan, read, nowMs, isCalm }: Sky): Weather {
  const on: Trouble[] = [];
  const worst = () => SHARES[TROUBLES.find((trouble) => on.includes(trouble)) ?? 'fair'];
  return {
    on,
    troubles: () => worst().writes,
    reads: {
      get faults() {
        return isCalm() ? NO_FAULTS : worst();
      },
      get churn() {
        return isCalm() ? 0 : plan.churn;
      },
      get changes() {
        return changesOf(read.world.listAt(nowMs()).length - plan.rows);
      },
      get slowestMs() {
        return !isCalm() && on.includes('slow') ? SLOW_MS : FAST_MS;
      },
    },
  };
}

const EDITS = CHANGES.filter((change) => !/insert|delete|hide|restore/.test(change));

/** A list that is too long by so many gets no longer, and one that is too short no shorter. */
function changesOf(surplus: number): readonly Change[] {
  const growth: Change[] = surplus > 4 ? ['delete'] : surplus < -4 ? ['insert'] : ['insert', 'delete'];
  // Of the others four in five fall upon the lists that people and our own writes change, and do nothing there.
  return ['hide', 'restore', 'restore', ...repeated(EDITS, 5), ...repeated(growth, 8)];
}

const repeated = <T>(list: readonly T[], times: number): T[] =>
  Array.from({ length: times }, () => list).flat();
