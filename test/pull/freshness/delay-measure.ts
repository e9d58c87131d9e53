import type { CountedChange } from '../../../src/pull/freshness/change-rates.ts';
import type { ReadReason } from '../../../src/pull/freshness/choose-read.ts';
import type { WatchedList } from '../../../src/pull/freshness/watched-list.ts';
import type { ListPlan, SimulatedList } from './delay-world.ts';

/** How a list shows new records: at one end, by its total, or only by being read whole. */
export type NewShown = 'by creation' | 'by total' | 'read whole';

/** Delays in milliseconds. */
export interface Delays {
  /** Of new records, by how their list shows them. */
  readonly created: Readonly<Record<NewShown, readonly number[]>>;
  /** Until a record was suspected to be gone, or a sweep did not show it. */
  readonly deleted: readonly number[];
  readonly updated: readonly number[];
  /** Requests in a minute, sweeps included. */
  readonly perMinute: number;
  /** Readings by what they were for, and sweeps that were brought forward. */
  readonly reads: ReadonlyMap<string, number>;
}

export interface DelayMeasure {
  /** Events before this instant do not count. */
  readonly fromMs: number;
  readonly request: (atMs: number) => void;
  /** A page was requested between sweeps. */
  readonly read: (why: ReadReason, atMs: number) => void;
  readonly broughtForward: () => void;
  /** A reading shows these records; returns what it found. */
  readonly show: (sim: SimulatedList, ids: readonly string[], atMs: number) => CountedChange[];
  readonly suspect: (sim: SimulatedList, list: WatchedList, atMs: number) => void;
  /** A sweep has shown only these records; returns those that are gone. */
  readonly absent: (sim: SimulatedList, shown: ReadonlyMap<string, number>, atMs: number) => string[];
  readonly delays: (minutes: number) => Delays;
}

export function newShown({ order, hasTotal }: ListPlan): NewShown {
  if (order.startsWith('created,')) return 'by creation';
  return hasTotal ? 'by total' : 'read whole';
}

export function createDelayMeasure(fromMs: number): DelayMeasure {
  const created: Record<NewShown, number[]> = { 'by creation': [], 'by total': [], 'read whole': [] };
  const [deleted, updated]: [number[], number[]] = [[], []];
  const reads = new Map<string, number>();
  const suspected = new Map<SimulatedList, Set<string>>();
  let requests = 0;
  const note = (delays: number[], happenedMs: number, atMs: number): void => {
    if (happenedMs >= fromMs) delays.push(atMs - happenedMs);
  };
  const request = (atMs: number): void => {
    if (atMs >= fromMs) requests++;
  };
  return {
    fromMs,
    request,
    read: (why, atMs) => {
      reads.set(why, (reads.get(why) ?? 0) + 1);
      request(atMs);
    },
    broughtForward: () => reads.set('sweep', (reads.get('sweep') ?? 0) + 1),
    show: (sim, ids, atMs) =>
      ids.flatMap((id): CountedChange[] => {
        const bornMs = sim.created.get(id);
        const updates = sim.updates.get(id) ?? [];
        if (bornMs !== undefined) note(created[newShown(sim.plan)], bornMs, atMs);
        for (const one of updates) note(updated, one, atMs);
        sim.created.delete(id);
        sim.updates.delete(id);
        return [
          ...(bornMs === undefined ? [] : [{ change: 'created' as const, id, atMs }]),
          ...(updates.length === 0 ? [] : [{ change: 'updated' as const, id, atMs }]),
        ];
      }),
    suspect: (sim, list, atMs) => {
      for (const id of list.gone.keys()) {
        const goneMs = sim.deleted.get(id);
        if (goneMs === undefined) continue;
        note(deleted, goneMs, atMs);
        sim.deleted.delete(id);
        suspected.set(sim, (suspected.get(sim) ?? new Set()).add(id));
      }
    },
    absent: (sim, shown, atMs) => {
      const gone = [...(suspected.get(sim) ?? [])];
      suspected.delete(sim);
      for (const [id, goneMs] of sim.deleted) {
        if (shown.has(id)) continue;
        note(deleted, goneMs, atMs);
        sim.deleted.delete(id);
        gone.push(id);
      }
      return gone;
    },
    delays: (minutes) => ({ created, deleted, updated, perMinute: requests / minutes, reads }),
  };
}

/** The value that a share of the others stays below. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
