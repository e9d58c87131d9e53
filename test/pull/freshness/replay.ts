/** A service with lists that change, and a reader of them in simulated time: how late does it see what happened? */
import { documentedKind } from '../../../src/catalog/kinds/catalog.ts';
import {
  chooseRead,
  countChanges,
  type ChangeHistory,
  type NextRead,
} from '../../../src/pull/freshness/choose-read.ts';
import { takeToken, msUntilToken } from '../../../src/pull/freshness/token-bucket.ts';
import type { RequestBudget } from '../../../src/store/kinds/request-budget.ts';
import {
  observePage,
  watchList,
  type PageReading,
  type WatchedList,
} from '../../../src/pull/freshness/watched-list.ts';
import { randomFrom, type Random } from '../../../sandbox/generate/draw.ts';

export interface ReplayPlan {
  /** Pages of each kind, and whether its answers show their total. */
  readonly lists: readonly { readonly kind: string; readonly pages: number; readonly hasTotal: boolean }[];
  readonly seed: string;
  readonly minutes: number;
  readonly sweepMinutes: number;
  /** Requests in a minute between sweeps; 0 = sweeps alone. */
  readonly perMinute: number;
  /** Changes in a minute, all lists together. The record of rank k is updated 1/k as often as the first. */
  readonly created: number;
  readonly deleted: number;
  readonly updated: number;
  readonly onRead?: (read: NextRead, atMs: number) => void;
}

/** How old changes were when they were seen, and the requests that were made; the first fifth of the time does not count. */
export interface Replayed {
  readonly createdP95Ms: number;
  readonly updatedMeanMs: number;
  readonly requestsAMinute: number;
}

const STRIDE = 25;
const MINUTE_MS = 60_000;
const ANSWER_MS = 300;
/** A sweep has four requests under way. */
const SWEEP_PAGE_MS = ANSWER_MS / 4;

interface Watch {
  readonly order: WatchedList['order'];
  readonly hasTotal: boolean;
  /** The records of the service, in the order of the list. */
  readonly ids: string[];
  list: WatchedList;
  history: ChangeHistory;
}

interface Replay {
  readonly plan: ReplayPlan;
  readonly random: Random;
  readonly watches: readonly Watch[];
  /** The records by how often they change, and their lists. */
  readonly ranks: string[];
  readonly homes: Map<string, Watch>;
  /** What is not seen yet, by record: when it was made, or changed. */
  readonly created: Map<string, number>;
  readonly updated: Map<string, number[]>;
  readonly ages: { readonly created: number[]; readonly updated: number[] };
  requests: number;
}

export function replay(plan: ReplayPlan): Replayed {
  const play = begin(plan);
  const { minutes, sweepMinutes, perMinute } = plan;
  const endMs = minutes * MINUTE_MS;
  let bucket: RequestBudget = { tokens: 0, atMs: 0 };
  let nextSweepMs = sweepMinutes * MINUTE_MS;
  let nowMs = 0;
  while (nowMs < endMs) {
    if (nowMs >= nextSweepMs) {
      for (const watch of play.watches) nowMs = sweep(play, watch, nowMs);
      nextSweepMs += sweepMinutes * MINUTE_MS;
      continue;
    }
    const taken = perMinute === 0 ? null : takeToken(bucket, perMinute, nowMs);
    if (taken === null) {
      const waitMs = perMinute === 0 ? Infinity : Math.max(1, msUntilToken(bucket, perMinute, nowMs));
      nowMs = advance(play, nowMs, Math.min(nextSweepMs, nowMs + waitMs));
      continue;
    }
    bucket = taken;
    readNext(play, nowMs);
    nowMs = advance(play, nowMs, nowMs + ANSWER_MS);
  }
  return measured(play);
}

function begin(plan: ReplayPlan): Replay {
  const random = randomFrom('freshness', plan.seed);
  const watches = plan.lists.map(({ kind, pages, hasTotal }): Watch => {
    const rows = pages * STRIDE - (pages > 1 ? 7 : 12);
    const ids = Array.from({ length: rows }, (_, index) => `${kind} ${index}`);
    const order = documentedKind(kind)?.list?.order ?? 'unknown';
    const start = beginning(kind, order, hasTotal ? rows : null);
    const pagesRead = Array.from({ length: pages }, (_, index) => pageOf(ids, index + 1, null, 0));
    const history = { created: 0, updated: new Map<string, number>() };
    return { order, hasTotal, ids, history, list: watchList(start, pagesRead, STRIDE) };
  });
  const homes = new Map(watches.flatMap((watch) => watch.ids.map((id) => [id, watch] as const)));
  const ranks = [...homes.keys()]
    .map((id) => ({ id, at: random.integer(0, 1e9) }))
    .sort((a, b) => a.at - b.at);
  return {
    plan,
    random,
    watches,
    ranks: ranks.map(({ id }) => id),
    homes,
    created: new Map(),
    updated: new Map(),
    ages: { created: [], updated: [] },
    requests: 0,
  };
}

/** A list whose length alone is known, if that. */
export const beginning = (kind: string, order: WatchedList['order'], total: number | null) => ({
  kind,
  order,
  total,
});

const pageOf = (ids: readonly string[], page: number, total: number | null, atMs: number): PageReading => ({
  page,
  ids: ids.slice((page - 1) * STRIDE, page * STRIDE),
  total,
  atMs,
});

/** Lets happen what happens until an instant, at instants of a Poisson process. Returns the instant. */
function advance(play: Replay, fromMs: number, toMs: number): number {
  const { random, plan } = play;
  for (const act of [create, remove, update]) {
    const perMinute = { create: plan.created, remove: plan.deleted, update: plan.updated }[act.name] ?? 0;
    const expected = (perMinute * (toMs - fromMs)) / MINUTE_MS;
    const times = Math.floor(expected) + (random.integer(0, 999_999) < (expected % 1) * 1e6 ? 1 : 0);
    for (let time = 0; time < times; time++)
      act(play, fromMs + (random.integer(0, 999) / 1000) * (toMs - fromMs));
  }
  return toMs;
}

function create({ plan, random, watches, created, homes, ranks }: Replay, atMs: number): void {
  const watch = drawList(plan, watches, random);
  const id = `new ${homes.size} ${atMs}`;
  const { order, ids } = watch;
  const places: Partial<Record<string, number>> = {
    'created, newest first': 0,
    'pickup date, newest first': random.integer(0, 2 * STRIDE),
    code: random.integer(0, ids.length),
  };
  const place = Math.min(ids.length, places[order] ?? ids.length);
  ids.splice(place, 0, id);
  homes.set(id, watch);
  created.set(id, atMs);
  ranks.push(id);
}

/** A list, the more often the more pages it has. */
function drawList({ lists }: ReplayPlan, watches: readonly Watch[], random: Random): Watch {
  let at = random.integer(
    1,
    lists.reduce((sum, { pages }) => sum + pages, 0),
  );
  const index = lists.findIndex(({ pages }) => (at -= pages) <= 0);
  const watch = watches[index];
  if (watch === undefined) throw new Error('no list');
  return watch;
}

function remove({ plan, random, watches, created, updated, homes }: Replay): void {
  const { ids } = drawList(plan, watches, random);
  const [id] = ids.splice(random.integer(0, ids.length - 1), 1);
  if (id === undefined) return;
  for (const known of [homes, created, updated]) known.delete(id);
}

/** The record of rank k changes 1/k as often as the first. */
function update({ random, ranks, homes, created, updated }: Replay, atMs: number): void {
  const rank = Math.floor(Math.exp((random.integer(0, 999_999) / 1e6) * Math.log(ranks.length)));
  const id = ranks[rank - 1] ?? '';
  if (homes.has(id) && !created.has(id)) updated.set(id, [...(updated.get(id) ?? []), atMs]);
}

function readNext(play: Replay, nowMs: number): void {
  const lists = play.watches.map(({ list, history }) => ({
    list,
    history,
    isFree: true,
    isAwaited: false,
  }));
  const next = chooseRead(lists, nowMs);
  const watch = play.watches.find(({ list }) => list.kind === next?.kind);
  if (next === null || watch === undefined) return;
  play.plan.onRead?.(next, nowMs);
  watch.list = observePage(watch.list, show(play, watch, next.page, nowMs));
}

/** Reads every page of a list. Returns when that is done. */
function sweep(play: Replay, watch: Watch, fromMs: number): number {
  const pages: PageReading[] = [];
  let nowMs = fromMs;
  for (let page = 1; page === 1 || (page - 1) * STRIDE < watch.ids.length; page++) {
    pages.push(show(play, watch, page, nowMs));
    nowMs = advance(play, nowMs, nowMs + SWEEP_PAGE_MS);
  }
  const { list, hasTotal, ids } = watch;
  watch.list = watchList({ ...list, total: hasTotal ? ids.length : null }, pages, STRIDE);
  return nowMs;
}

/** Reads a page, and sees what has happened to its records. */
function show(play: Replay, watch: Watch, page: number, nowMs: number): PageReading {
  const reading = pageOf(watch.ids, page, watch.hasTotal ? watch.ids.length : null, nowMs);
  const found: { readonly change: 'created' | 'updated'; readonly recordId: string }[] = [];
  play.requests++;
  for (const id of reading.ids) {
    const bornMs = play.created.get(id);
    const updates = play.updated.get(id) ?? [];
    if (bornMs !== undefined) found.push({ change: 'created', recordId: id });
    if (updates.length > 0) found.push({ change: 'updated', recordId: id });
    for (const atMs of bornMs === undefined ? updates : [bornMs])
      if (atMs > (play.plan.minutes * MINUTE_MS) / 5)
        play.ages[bornMs === undefined ? 'updated' : 'created'].push(nowMs - atMs);
    play.created.delete(id);
    play.updated.delete(id);
  }
  watch.history = countChanges(watch.history, found);
  return reading;
}

function measured({ plan, ages, requests }: Replay): Replayed {
  const created = ages.created.sort((a, b) => a - b);
  return {
    createdP95Ms: created[Math.floor(0.95 * created.length)] ?? NaN,
    updatedMeanMs: ages.updated.reduce((sum, age) => sum + age, 0) / ages.updated.length,
    requestsAMinute: requests / plan.minutes,
  };
}
