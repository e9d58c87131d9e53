/** What the planner promises as a whole, for any lists. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListOrder } from '../../../src/catalog/kind.ts';
import { countChanges, startHistory } from '../../../src/pull/freshness/change-rates.ts';
import { chooseRead } from '../../../src/pull/freshness/choose-read.ts';
import type { ReadableList } from '../../../src/pull/freshness/choose-read.ts';
import { observePage } from '../../../src/pull/freshness/observe-page.ts';
import { mostTokens } from '../../../src/pull/freshness/spend-budget.ts';
import { gapsOf, pageCount, watchList, frameOf } from '../../../src/pull/freshness/watched-list.ts';
import type { WatchedList } from '../../../src/pull/freshness/watched-list.ts';
import { playDelays } from './delay-run.ts';
import { NINE_IN_TEN } from './delay-world.ts';

const STRIDE = 5;
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

const orders = fc.constantFrom<ListOrder>(
  ...([
    'code',
    'created, newest first',
    'created, oldest first',
    'pickup date, newest first',
    'unknown',
  ] as const),
);

/** A list, and what the service shows of it. */
interface Shown {
  list: WatchedList;
  readonly ids: string[];
}

interface ListOf {
  readonly kind: string;
  readonly rows: number;
  readonly order: ListOrder;
  readonly hasTotal: boolean;
  /** Updates of the last hour, as numbers of rows. */
  readonly updates: readonly number[];
}

const anyList = fc.record({
  rows: fc.integer({ min: 1, max: 60 }),
  order: orders,
  hasTotal: fc.boolean(),
  updates: fc.array(fc.nat({ max: 59 }), { maxLength: 60 }),
});
const anyLists = fc
  .array(anyList, { minLength: 1, maxLength: 5 })
  .map((all) => all.map((one, index) => shownOf({ ...one, kind: `k${index}` })));

const pageOf = (ids: readonly string[], page: number): string[] =>
  ids.slice((page - 1) * STRIDE, page * STRIDE);

function shownOf({ kind, rows, order, hasTotal, updates }: ListOf): Shown {
  const ids = Array.from({ length: rows }, (_, index) => `${kind}_${index}`);
  const pages = Array.from({ length: Math.ceil(rows / STRIDE) }, (_, index) => ({
    page: index + 1,
    ids: pageOf(ids, index + 1),
  }));
  const found = updates.map((row) => ({ change: 'updated' as const, id: ids[row % rows] ?? '', atMs: 0 }));
  const history = countChanges(startHistory(-HOUR_MS), found);
  const frame = frameOf(pages, STRIDE);
  return { ids, list: watchList({ kind, order, hasTotal, frame, history, readMs: pages.map(() => 0) }) };
}

const readable = (list: WatchedList, more: Partial<ReadableList> = {}): ReadableList => ({
  ...{ list, isFree: true, isAwaited: false, sweeps: null, askedMs: null },
  ...more,
});

/** Reads what is worth most of some lists. */
function readNext(
  all: readonly Shown[],
  nowMs: number,
  more: Partial<ReadableList> = {},
): Shown & { page: number } {
  const next = chooseRead(
    all.map(({ list }) => readable(list, more)),
    nowMs,
  );
  const shown = all.find(({ list }) => list.kind === next?.kind);
  if (next === null || shown === undefined) throw new Error('nothing to read');
  const { ids, list } = shown;
  const total = list.total === null ? null : ids.length;
  shown.list = observePage(list, { page: next.page, ids: pageOf(ids, next.page), total, atMs: nowMs });
  return Object.assign(shown, { page: next.page });
}

test('readings, and sweeps that they brought forward, never cost more than the budget', () => {
  const plans = fc.array(
    fc.record({ order: orders, pages: fc.integer({ min: 1, max: 12 }), hasTotal: fc.boolean() }),
    { minLength: 1, maxLength: 4 },
  );
  const rates = fc.double({ min: 1, max: 60, noNaN: true });
  fc.assert(
    fc.property(plans, rates, fc.nat(), (lists, perMinute, seed) => {
      let [spent, least] = [0, 0];
      const tokensBy = (atMs: number): number => (atMs / MINUTE_MS) * perMinute;
      playDelays({
        ...{
          perMinute,
          sweepMinutes: 15,
          hours: 0.5,
          warmUpHours: 0,
          churn: NINE_IN_TEN,
          seed: String(seed),
        },
        plans: lists.map((plan, index) => ({ ...plan, kind: `k${index}` })),
        onSweep: ({ pages }) => (spent += pages),
        onRead: (_, atMs) => {
          least = Math.min(least, spent - tokensBy(atMs)); // The most that any beginning leaves until here.
          spent++;
          expect(spent - tokensBy(atMs) - least).toBeLessThanOrEqual(mostTokens(perMinute) + 1e-6);
        },
      });
      expect(spent).toBeGreaterThan(0);
    }),
    { numRuns: 12 },
  );
});

test('where no sweep comes, no page waits three times as long as for one, if the budget is twice what they cost', () => {
  const everyMs = 15 * MINUTE_MS;
  fc.assert(
    fc.property(anyLists, (all) => {
      const pages = all.reduce((sum, { list }) => sum + pageCount(list), 0);
      const stepMs = everyMs / pages / 2;
      const last = new Map<string, number>();
      const waits: number[] = [];
      for (let nowMs = stepMs; nowMs <= 4 * everyMs; nowMs += stepMs) {
        const { list, page } = readNext(all, nowMs, { sweeps: { everyMs, nextMs: nowMs + everyMs } });
        const name = `${list.kind} ${page}`;
        waits.push(nowMs - (last.get(name) ?? 0));
        last.set(name, nowMs);
      }
      for (const atMs of last.values()) waits.push(4 * everyMs - atMs);
      expect(last.size).toBe(pages);
      expect(Math.max(...waits) / everyMs).toBeLessThanOrEqual(3);
    }),
    { numRuns: 25 },
  );
});

test('a kind in which a create of ours is awaited is read first, if one of its pages tells of it', () => {
  fc.assert(
    fc.property(anyLists, fc.nat(), fc.integer({ min: 1000, max: HOUR_MS }), (all, seed, nowMs) => {
      const telling = all.filter(({ list }) => list.total !== null);
      const awaited = telling[seed % telling.length]?.list.kind;
      fc.pre(awaited !== undefined);
      const lists = all.map(({ list }) => readable(list, { isAwaited: list.kind === awaited }));
      expect(chooseRead(lists, nowMs)?.kind).toBe(awaited);
    }),
  );
});

test('a kind is never read later because a create of ours is awaited in it', () => {
  fc.assert(
    fc.property(anyLists, fc.integer({ min: 1000, max: HOUR_MS }), (all, nowMs) => {
      const lists = all.map(({ list }) => readable(list));
      const first = chooseRead(lists, nowMs);
      const awaiting = lists.map((one) =>
        one.list.kind === first?.kind ? { ...one, isAwaited: true } : one,
      );
      expect(chooseRead(awaiting, nowMs)).toEqual(first);
    }),
  );
});

/** Readings that locate so many rows: the logarithm of the pages for each, one that shows the total, one to spare each. */
const readingsFor = (rows: number, pages: number): number => 1 + rows * (2 + Math.ceil(Math.log2(pages + 1)));

const fewRows = fc.uniqueArray(fc.nat({ max: 9999 }), { minLength: 1, maxLength: 4 });
const manyRows = fc.integer({ min: 20, max: 2000 });

/** Reads until all rows are located; returns how many readings that took. */
function locateAll(shown: Shown): number {
  let readings = 0;
  const sweeps = { everyMs: 2 * HOUR_MS, nextMs: 2 * HOUR_MS };
  for (let nowMs = 5 * MINUTE_MS; readings < 200; nowMs += 1000, readings++) {
    readNext([shown], nowMs, { sweeps });
    if (gapsOf(shown.list).length === 0) break;
  }
  return readings;
}

test('records that went are located within about the logarithm of the pages for each', () => {
  fc.assert(
    fc.property(manyRows, orders, fewRows, (rows, order, places) => {
      const shown = shownOf({ kind: 'k', rows, order, hasTotal: true, updates: [] });
      const pages = pageCount(shown.list);
      const gone = places.flatMap((place) => shown.ids.splice(place % shown.ids.length, 1));
      expect(locateAll(shown)).toBeLessThanOrEqual(readingsFor(gone.length, pages));
      expect([...shown.list.gone.keys()].sort()).toEqual(gone.sort());
      expect(shown.list.frame.ids).toEqual(shown.ids);
    }),
    { numRuns: 60 },
  );
});

test('records that came are located within about the logarithm of the pages for each', () => {
  fc.assert(
    fc.property(manyRows, fewRows, (rows, places) => {
      const shown = shownOf({ kind: 'k', rows, order: 'code', hasTotal: true, updates: [] });
      for (const [index, place] of places.entries())
        shown.ids.splice(place % (shown.ids.length + 1), 0, `new${index}`);
      expect(locateAll(shown)).toBeLessThanOrEqual(readingsFor(places.length, pageCount(shown.list)));
      expect(shown.list.frame.ids).toEqual(shown.ids);
      expect(shown.list.gone.size).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test('a restart forgets what was searched for and suspected, and finds all of it again', () => {
  const changes = fc.array(
    fc.record({
      at: fc.nat({ max: 999 }),
      is: fc.constantFrom('came' as const, 'went' as const, 'read' as const),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 80 }), orders, changes, (rows, order, acts) => {
      const shown = shownOf({ kind: 'k', rows, order, hasTotal: true, updates: [] });
      const { frame: swept, history } = shown.list;
      let nowMs = 0;
      for (const [index, { is, at }] of acts.entries()) {
        nowMs += 20_000;
        const place = at % Math.max(1, shown.ids.length);
        if (is === 'came') shown.ids.splice(place, 0, `new${index}`);
        else if (is === 'went') shown.ids.splice(place, 1);
        else readNext([shown], nowMs);
      }
      fc.pre(shown.ids.length > 0); // Whether an emptied list is believed is decided by sweeps.
      const readMs = Array.from({ length: Math.ceil(rows / STRIDE) }, () => 0);
      shown.list = watchList({ kind: 'k', order, hasTotal: true, frame: swept, history, readMs });
      for (let turn = 0; turn < 400 && shown.list.frame.ids.join() !== shown.ids.join(); turn++)
        readNext([shown], (nowMs += 20_000));
      expect(shown.list.frame.ids).toEqual(shown.ids);
      const gone = swept.ids.filter((id) => id !== undefined && !shown.ids.includes(id));
      expect([...shown.list.gone.keys()].sort()).toEqual(gone.sort());
    }),
    { numRuns: 60 },
  );
});
