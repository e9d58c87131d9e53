import { countChanges, startHistory, withoutRestless } from '../../../src/pull/freshness/change-rates.ts';
import type { CountedChange } from '../../../src/pull/freshness/change-rates.ts';
import { chooseRead } from '../../../src/pull/freshness/choose-read.ts';
import type { NextRead, ReadableList } from '../../../src/pull/freshness/choose-read.ts';
import { observePage } from '../../../src/pull/freshness/observe-page.ts';
import { takeToken, untilToken, chooseSweep } from '../../../src/pull/freshness/spend-budget.ts';
import type { TokenBucket, NextSweep } from '../../../src/pull/freshness/spend-budget.ts';
import { countFound, watchList, frameOf } from '../../../src/pull/freshness/watched-list.ts';
import type { WatchedList } from '../../../src/pull/freshness/watched-list.ts';
import { randomFrom } from '../../../src/sandbox/generate/draw.ts';
import { createDelayMeasure } from './delay-measure.ts';
import type { DelayMeasure, Delays } from './delay-measure.ts';
import { ROWS_A_PAGE, TEN_LISTS, createDelayWorld } from './delay-world.ts';
import type { Churn, DelayWorld, ListPlan, SimulatedList } from './delay-world.ts';

export interface DelayPlan {
  readonly hours: number;
  /** Hours at the beginning that do not count: rates are learnt. */
  readonly warmUpHours: number;
  /** Requests in a minute between sweeps; null = sweeps only. */
  readonly perMinute: number | null;
  readonly sweepMinutes: number;
  readonly churn: Churn;
  readonly seed: string;
  readonly plans?: readonly ListPlan[];
  /** Called after every reading. */
  readonly onRead?: (read: NextRead, atMs: number) => void;
  /** Called when a sweep is brought forward. */
  readonly onSweep?: (sweep: NextSweep) => void;
}

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const ANSWER_MS = 300;
/** A sweep has four requests under way. */
const SWEEP_PAGE_MS = ANSWER_MS / 4;

interface Watch {
  readonly sim: SimulatedList;
  list: WatchedList;
  askedMs: number | null;
  /** The changes of the last day that were seen. */
  events: CountedChange[];
}

/** A sweep under way, and the pages that it has still to read. */
interface Sweep {
  readonly watch: Watch;
  readonly left: number[];
  readonly shown: Map<number, readonly string[]>;
  readonly readMs: number[];
}

interface Play {
  readonly plan: DelayPlan;
  readonly world: DelayWorld;
  readonly measure: DelayMeasure;
  readonly watches: readonly Watch[];
  /** Lists that wait for a sweep, and the sweep under way. */
  readonly waiting: Watch[];
  sweep: Sweep | null;
  nextSweepMs: number;
  bucket: TokenBucket;
}

/** Plays a time in the simulated world, with the real planner, and measures how late everything is seen. */
export function playDelays(plan: DelayPlan): Delays {
  const { hours, warmUpHours, sweepMinutes, churn, seed } = plan;
  const random = randomFrom('freshness', seed);
  const world = createDelayWorld(plan.plans ?? TEN_LISTS, churn, random);
  const play: Play = {
    ...{ plan, world, measure: createDelayMeasure(warmUpHours * 60 * MINUTE_MS) },
    watches: world.lists.map((sim) => ({ sim, list: firstList(sim), askedMs: null, events: [] })),
    ...{ waiting: [], sweep: null, nextSweepMs: sweepMinutes * MINUTE_MS },
    bucket: { tokens: 0, atMs: 0 },
  };
  const endMs = hours * 60 * MINUTE_MS;
  let [sweepMs, readMs] = [play.nextSweepMs, plan.perMinute === null ? Infinity : 0];
  while (Math.min(sweepMs, readMs) < endMs) {
    const nowMs = Math.min(sweepMs, readMs);
    world.advance(nowMs);
    if (sweepMs <= readMs) sweepMs = sweepOn(play, nowMs);
    else {
      readMs = readOn(play, nowMs);
      if (play.waiting.length > 0) sweepMs = Math.min(sweepMs, nowMs);
    }
  }
  return play.measure.delays((endMs - play.measure.fromMs) / MINUTE_MS);
}

/** Reads a page of the sweep under way, or begins one. Returns when to go on. */
function sweepOn(play: Play, nowMs: number): number {
  if (nowMs >= play.nextSweepMs) {
    play.nextSweepMs += play.plan.sweepMinutes * MINUTE_MS;
    play.waiting.push(...play.watches.filter((watch) => !play.waiting.includes(watch)));
  }
  if (play.sweep === null) {
    const watch = play.waiting.shift();
    if (watch === undefined) return play.nextSweepMs;
    play.sweep = { watch, left: pagesInOrder(watch.sim), shown: new Map(), readMs: [] };
  }
  const { watch, left, shown, readMs } = play.sweep;
  const page = left.shift();
  if (page !== undefined) {
    const ids = pageOf(watch.sim, page);
    play.measure.request(nowMs);
    shown.set(page, ids);
    readMs[page - 1] = nowMs;
    const found = play.measure.show(watch.sim, ids, nowMs);
    watch.events.push(...found);
    watch.list = countFound(watch.list, found);
  }
  if (left.length > 0) return nowMs + SWEEP_PAGE_MS;
  endSweep(play, play.sweep, nowMs);
  play.sweep = null;
  return play.waiting.length > 0 ? nowMs + SWEEP_PAGE_MS : play.nextSweepMs;
}

/** Page 1, the last page, the others. */
function pagesInOrder({ ids }: SimulatedList): number[] {
  const pages = Math.max(1, Math.ceil(ids.length / ROWS_A_PAGE));
  const others = Array.from({ length: Math.max(0, pages - 2) }, (_, index) => index + 2);
  return [1, ...(pages > 1 ? [pages] : []), ...others];
}

/** The sweep's pages are the new frame, and the records that it does not show are known to be gone. */
function endSweep({ measure }: Play, { watch, shown, readMs }: Sweep, nowMs: number): void {
  const { kind, order, newPlaces, streaks } = watch.list;
  const frame = frameOf(
    [...shown].map(([page, ids]) => ({ page, ids })),
    ROWS_A_PAGE,
  );
  for (const id of measure.absent(watch.sim, frame.places, nowMs))
    watch.events.push({ change: 'deleted', id, atMs: nowMs });
  watch.events = watch.events.filter(({ atMs }) => atMs > nowMs - DAY_MS);
  const history = countChanges(startHistory(0), withoutRestless(watch.events, streaks));
  const { hasTotal } = watch.sim.plan;
  watch.list = watchList({ kind, order, frame, history, readMs, hasTotal, newPlaces, streaks });
}

/** Spends a token on what the planner chooses. Returns when to ask again. */
function readOn(play: Play, nowMs: number): number {
  const { plan, measure, watches } = play;
  const perMinute = plan.perMinute ?? 0;
  const bucket = takeToken(play.bucket, perMinute, nowMs);
  if (bucket === null) return nowMs + Math.max(1, untilToken(play.bucket, perMinute, nowMs));
  play.bucket = bucket;
  const lists = watches.map((watch) => readable(play, watch));
  const sweep = chooseSweep(lists, { perMinute, nowMs });
  if (sweep !== null) return bringForward(play, sweep, nowMs);
  const next = chooseRead(lists, nowMs);
  const watch = watches.find(({ list }) => list.kind === next?.kind);
  if (next === null || watch === undefined) return nowMs + ANSWER_MS;
  plan.onRead?.(next, nowMs);
  measure.read(next.why, nowMs);
  const ids = pageOf(watch.sim, next.page);
  const total = watch.sim.plan.hasTotal ? watch.sim.ids.length : null;
  const found = measure.show(watch.sim, ids, nowMs);
  watch.events.push(...found);
  watch.list = observePage(countFound(watch.list, found), { page: next.page, ids, total, atMs: nowMs });
  measure.suspect(watch.sim, watch.list, nowMs);
  return nowMs + ANSWER_MS;
}

function bringForward(play: Play, sweep: NextSweep, nowMs: number): number {
  const { kind, pages } = sweep;
  play.plan.onSweep?.(sweep);
  for (const watch of play.watches.filter(({ list }) => list.kind === kind)) {
    watch.askedMs = nowMs;
    play.waiting.push(watch);
  }
  play.bucket = { ...play.bucket, tokens: play.bucket.tokens + 1 - pages };
  play.measure.broughtForward();
  return nowMs;
}

function readable({ plan, sweep, waiting, nextSweepMs }: Play, watch: Watch): ReadableList {
  const { list, askedMs } = watch;
  const isFree = sweep?.watch !== watch && !waiting.includes(watch);
  const sweeps = { everyMs: plan.sweepMinutes * MINUTE_MS, nextMs: nextSweepMs };
  return { list, isFree, isAwaited: false, sweeps, askedMs };
}

const pageOf = ({ ids }: SimulatedList, page: number): string[] =>
  ids.slice((page - 1) * ROWS_A_PAGE, page * ROWS_A_PAGE);

function firstList(sim: SimulatedList): WatchedList {
  const { plan } = sim;
  const pages = Array.from({ length: plan.pages }, (_, index) => ({
    page: index + 1,
    ids: pageOf(sim, index + 1),
  }));
  const frame = frameOf(pages, ROWS_A_PAGE);
  return watchList({ ...plan, frame, history: startHistory(0), readMs: pages.map(() => 0) });
}
