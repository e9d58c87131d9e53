/** What reading between sweeps promises as a whole: the two figures of a replay, and what holds for any lists. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import type { ListOrder } from '../../../src/catalog/kind.ts';
import { chooseRead, countChanges, type ReadableList } from '../../../src/pull/freshness/choose-read.ts';
import {
  observePage,
  pageCount,
  watchList,
  type WatchedList,
} from '../../../src/pull/freshness/watched-list.ts';
import { sized } from '../../support/tiers.ts';
import { beginning, replay } from './replay.ts';

/** Five hundred pages in the sizes that a business has; punches come without `meta`. */
const LISTS = Object.entries({
  purchase_products: 300,
  products: 80,
  projects: 45,
  bookings: 30,
  clients: 25,
  providers: 10,
  punches: 5,
  vehicle_brands: 3,
  categories: 1,
  departments: 1,
}).map(([kind, pages]) => ({ kind, pages, hasTotal: kind !== 'punches' }));

test('the lists of the replay are of known kinds', () => {
  const names = KINDS.map(({ name }) => name);
  expect(LISTS.filter(({ kind }) => !names.includes(kind))).toEqual([]);
});

test.each(
  [
    { sweepMinutes: 30, seed: 'a' },
    { sweepMinutes: 120, seed: 'b' },
    { sweepMinutes: 30, seed: 'c' },
    { sweepMinutes: 30, seed: 'd' },
    { sweepMinutes: 120, seed: 'e' },
  ].slice(0, sized({ quick: 1, acceptance: 5, deep: 5 })),
)(
  'for the requests of sweeps every 15 minutes, new records show sooner by half and updates no later: %o',
  { timeout: 300_000 },
  ({ sweepMinutes, seed }) => {
    const world = { lists: LISTS, seed, minutes: 240, created: 1, deleted: 1, updated: 12 };
    const alone = replay({ ...world, sweepMinutes: 15, perMinute: 0 });
    const spent = replay({ ...world, sweepMinutes, perMinute: 500 / 15 - 500 / sweepMinutes });
    expect(spent.requestsAMinute).toBeLessThanOrEqual(1.01 * alone.requestsAMinute);
    expect(spent.createdP95Ms).toBeLessThanOrEqual(0.5 * alone.createdP95Ms);
    expect(spent.updatedMeanMs).toBeLessThanOrEqual(1.1 * alone.updatedMeanMs);
  },
);

const STRIDE = 5;
const MINUTE_MS = 60_000;
const ORDERS: readonly ListOrder[] = [
  'code',
  'created, newest first',
  'created, oldest first',
  'pickup date, newest first',
  'unknown',
];

/** A list, and what the service shows of it. */
interface Shown {
  readonly ids: string[];
  readonly updated: ReadonlyMap<string, number>;
  list: WatchedList;
}

const pageOf = (ids: readonly string[], page: number): string[] =>
  ids.slice((page - 1) * STRIDE, page * STRIDE);

function shownOf(kind: string, rows: number, order: ListOrder, hasTotal: boolean): Shown {
  const ids = Array.from({ length: rows }, (_, index) => `${kind}_${index}`);
  const pages = Array.from({ length: Math.max(1, Math.ceil(rows / STRIDE)) }, (_, index) => ({
    page: index + 1,
    ids: pageOf(ids, index + 1),
    total: hasTotal ? rows : null,
    atMs: 0,
  }));
  const start = beginning(kind, order, hasTotal ? rows : null);
  return { ids, updated: new Map(), list: watchList(start, pages, STRIDE) };
}

const anyLists = fc
  .array(
    fc.record({
      rows: fc.integer({ min: 1, max: 60 }),
      order: fc.constantFrom(...ORDERS),
      hasTotal: fc.boolean(),
      updates: fc.array(fc.nat({ max: 59 }), { maxLength: 60 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((all) =>
    all.map(({ rows, order, hasTotal, updates }, index) => {
      const shown = shownOf(`k${index}`, rows, order, hasTotal);
      const updated = new Map(updates.map((row) => [`k${index}_${row % rows}`, 60]));
      return { ...shown, updated };
    }),
  );

const readable = ({ list, updated }: Shown, more: Partial<ReadableList> = {}): ReadableList => ({
  list,
  history: { created: 0, updated },
  isFree: true,
  isAwaited: false,
  ...more,
});

/** Reads what is worth most of some lists. Returns the page. */
function readNext(all: readonly Shown[], nowMs: number): string {
  const next = chooseRead(
    all.map((shown) => readable(shown)),
    nowMs,
  );
  const shown = all.find(({ list }) => list.kind === next?.kind);
  if (next === null || shown === undefined) throw new Error('nothing to read');
  const { ids, list } = shown;
  const total = list.total === null ? null : ids.length;
  shown.list = observePage(list, { page: next.page, ids: pageOf(ids, next.page), total, atMs: nowMs });
  return `${next.kind} ${next.page}`;
}

test('where no sweep comes, no page waits for sixteen times as long as reading all in turn would take', () => {
  fc.assert(
    fc.property(anyLists, (all) => {
      const pages = all.reduce((sum, { list }) => sum + pageCount(list), 0);
      const stepMs = MINUTE_MS;
      const last = new Map<string, number>();
      let longestMs = 0;
      const endMs = 20 * pages * stepMs;
      for (let nowMs = stepMs; nowMs <= endMs; nowMs += stepMs) {
        const page = readNext(all, nowMs);
        longestMs = Math.max(longestMs, nowMs - (last.get(page) ?? 0));
        last.set(page, nowMs);
      }
      for (const atMs of last.values()) longestMs = Math.max(longestMs, endMs - atMs);
      expect(last.size).toBe(pages);
      expect(longestMs / (pages * stepMs)).toBeLessThanOrEqual(16);
    }),
    { numRuns: 12 },
  );
});

test('a kind is never read later because a create of ours is awaited in it', () => {
  fc.assert(
    fc.property(anyLists, fc.integer({ min: 1000, max: 60 * MINUTE_MS }), (all, nowMs) => {
      const first = chooseRead(
        all.map((shown) => readable(shown)),
        nowMs,
      );
      const awaiting = all.map((shown) => readable(shown, { isAwaited: shown.list.kind === first?.kind }));
      expect(chooseRead(awaiting, nowMs)?.kind).toBe(first?.kind);
    }),
  );
});

test('a list that a sweep reads is left alone', () => {
  const shown = shownOf('k', 20, 'code', true);
  expect(chooseRead([readable(shown, { isFree: false })], MINUTE_MS)).toBeNull();
});

test('a record that came anywhere in a long list is found within twice the logarithm of its pages', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 2000 }),
      fc.nat(),
      fc.constantFrom(...ORDERS),
      (rows, at, order) => {
        const shown = shownOf('k', rows, order, true);
        shown.ids.splice(at % (rows + 1), 0, 'new');
        let readings = 0;
        for (
          let nowMs = 5 * MINUTE_MS;
          !shown.list.places.has('new') && readings < 99;
          nowMs += 1000, readings++
        )
          readNext([shown], nowMs);
        expect(readings).toBeLessThanOrEqual(4 + 2 * Math.log2(pageCount(shown.list)));
        expect(shown.list.ids).toEqual(shown.ids);
      },
    ),
    { numRuns: 100 },
  );
});

test('several records that came and went one after the other are placed by halving, or left to the next sweep', () => {
  const changes = fc.array(fc.record({ at: fc.nat(), came: fc.boolean() }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 500 }), changes, (rows, acts) => {
      const shown = shownOf('k', rows, 'code', true);
      let nowMs = 0;
      let readings = 0;
      for (const [index, { at, came }] of acts.entries()) {
        if (came) shown.ids.splice(at % (shown.ids.length + 1), 0, `new${index}`);
        else shown.ids.splice(at % shown.ids.length, 1);
        do {
          readNext([shown], (nowMs += 1000));
          readings++;
        } while (shown.list.gap !== null);
      }
      expect(readings).toBeLessThanOrEqual(acts.length * (5 + 2 * Math.log2(pageCount(shown.list))));
      expect(shown.list.ids).toEqual(shown.ids);
    }),
    { numRuns: 100 },
  );
});

test('updates are counted by record, and new records by list', () => {
  const before = { sinceMs: 0, created: 1, updated: new Map([['1', 1]]) };
  const found = (['updated', 'updated', 'created', 'deleted'] as const).map((change, index) => ({
    change,
    recordId: index === 0 ? '1' : '2',
  }));
  const updated = new Map([
    ['1', 2],
    ['2', 1],
  ]);
  expect(countChanges(before, found)).toEqual({ sinceMs: 0, created: 2, updated });
});
