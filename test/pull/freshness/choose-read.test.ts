import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListOrder } from '../../../src/catalog/kind.ts';
import { countChanges, startHistory } from '../../../src/pull/freshness/change-rates.ts';
import { chooseRead } from '../../../src/pull/freshness/choose-read.ts';
import type { NextRead, ReadableList } from '../../../src/pull/freshness/choose-read.ts';
import { chooseSweep } from '../../../src/pull/freshness/spend-budget.ts';
import { observePage } from '../../../src/pull/freshness/observe-page.ts';
import { watchList, frameOf } from '../../../src/pull/freshness/watched-list.ts';
import type { WatchedList } from '../../../src/pull/freshness/watched-list.ts';

const STRIDE = 4;
const HOUR_MS = 3_600_000;

interface ListOf {
  readonly kind: string;
  readonly pages: number;
  readonly order: ListOrder;
  readonly hasTotal: boolean;
  /** Updates of the first row of each page. */
  readonly updates: readonly number[];
}

const rowsOf = (kind: string, pages: number): string[] =>
  Array.from({ length: pages * STRIDE - 1 }, (_, index) => `${kind}${index}`);

function listOf({ kind, pages, order, hasTotal, updates }: ListOf): WatchedList {
  const ids = rowsOf(kind, pages);
  const shown = Array.from({ length: pages }, (_, index) => ({
    page: index + 1,
    ids: ids.slice(index * STRIDE, (index + 1) * STRIDE),
  }));
  const found = updates.flatMap((count, page) =>
    Array.from({ length: count }, () => ({
      change: 'updated' as const,
      id: ids[page * STRIDE] ?? '',
      atMs: 0,
    })),
  );
  const history = countChanges(startHistory(-HOUR_MS), found);
  return watchList({
    kind,
    order,
    hasTotal,
    history,
    frame: frameOf(shown, STRIDE),
    readMs: shown.map(() => 0),
  });
}

const readable = (list: WatchedList, more: Partial<ReadableList> = {}): ReadableList => {
  const sweeps = { everyMs: 2 * HOUR_MS, nextMs: 2 * HOUR_MS };
  return { list, isFree: true, isAwaited: false, sweeps, askedMs: null, ...more };
};

const anyList = fc.record({
  pages: fc.integer({ min: 1, max: 12 }),
  order: fc.constantFrom<ListOrder>('code', 'created, newest first', 'created, oldest first', 'unknown'),
  hasTotal: fc.boolean(),
  updates: fc.array(fc.nat({ max: 5 }), { maxLength: 12 }),
});
const anyLists = fc
  .array(anyList, { minLength: 1, maxLength: 5 })
  .map((all) => all.map((one, index) => listOf({ ...one, kind: `k${index}_` })));

/** Reads what is chosen, so many times, and the pages show what they showed before. */
function readOn(lists: readonly WatchedList[], times: number, everyMs: number): NextRead[] {
  const [reads, kept]: [NextRead[], WatchedList[]] = [[], [...lists]];
  for (let turn = 1; turn <= times; turn++) {
    const next = chooseRead(
      kept.map((list) => readable(list)),
      turn * everyMs,
    );
    if (next === null) break;
    const at = kept.findIndex(({ kind }) => kind === next.kind);
    const [list] = kept.slice(at, at + 1);
    if (list === undefined) break;
    const ids = list.frame.ids.slice((next.page - 1) * STRIDE, next.page * STRIDE).map(String);
    kept[at] = observePage(list, { page: next.page, ids, total: list.total, atMs: turn * everyMs });
    reads.push(next);
  }
  return reads;
}

test('every page of every list is read again and again, and none beyond the end', () => {
  fc.assert(
    fc.property(anyLists, (lists) => {
      const pages = lists.reduce((sum, { frame }) => sum + Math.ceil((frame.ids.length + 1) / STRIDE), 0);
      const reads = readOn(lists, 40 * pages, 10_000);
      for (const { kind, frame } of lists) {
        const own = reads.filter((read) => read.kind === kind).map(({ page }) => page);
        const last = Math.ceil(frame.ids.length / STRIDE);
        expect(new Set(own).size).toBe(last);
        expect(Math.max(...own)).toBe(last);
        expect(Math.min(...own)).toBe(1);
      }
    }),
    { numRuns: 12 },
  );
});

test('the same state and instant lead to the same choice', () => {
  fc.assert(
    fc.property(anyLists, fc.integer({ min: 1, max: HOUR_MS }), (lists, nowMs) => {
      const all = lists.map((list) => readable(list));
      expect(chooseRead(all, nowMs)).toEqual(chooseRead(structuredClone(all), nowMs));
    }),
  );
});

test('a list that a sweep reads, or is about to, is left alone', () => {
  fc.assert(
    fc.property(anyLists, fc.integer({ min: 1, max: HOUR_MS }), fc.nat(), (lists, nowMs, seed) => {
      const all = lists.map((list, index) => readable(list, { isFree: ((seed >> index) & 1) === 0 }));
      const next = chooseRead(all, nowMs);
      const free = all.filter(({ isFree }) => isFree).map(({ list }) => list.kind);
      if (next === null) expect(free).toEqual([]);
      else expect(free).toContain(next.kind);
    }),
  );
});

test('a page that changes nine times as often is read about three times as often', () => {
  const updates = [90, 10, 10, 10, 10, 10, 10, 10];
  const list = listOf({ kind: 'k', pages: 8, order: 'unknown', hasTotal: false, updates });
  const reads = readOn([list], 2000, 1000).map(({ page }) => page);
  const often = reads.filter((page) => page === 1).length;
  const seldom = reads.filter((page) => page === 4).length;
  expect(often / seldom).toBeGreaterThan(2.2);
  expect(often / seldom).toBeLessThan(3.8);
});

test('a list in which a create of ours is awaited is looked at first', () => {
  const of = (kind: string): WatchedList =>
    listOf({ kind, pages: 6, order: 'code', hasTotal: true, updates: [9, 9, 9, 9, 9, 9] });
  const lists = [readable(of('a')), readable(of('b'), { isAwaited: true }), readable(of('c'))];
  expect(chooseRead(lists, 60_000)?.kind).toBe('b');
});

test('a page that was not read since the last sweep should have been comes before busier ones', () => {
  const list = listOf({ kind: 'k', pages: 3, order: 'unknown', hasTotal: false, updates: [0, 6, 6] });
  const late = { ...list, readMs: [0, HOUR_MS, 2 * HOUR_MS - 60_000] }; // The last shows new rows.
  const sweeps = { everyMs: HOUR_MS, nextMs: 3 * HOUR_MS };
  expect(chooseRead([readable(late, { sweeps })], 2 * HOUR_MS)?.page).toBe(1);
});

test('a suspected deletion brings a sweep forward only where it costs little, and once', () => {
  const short = listOf({ kind: 'short', pages: 1, order: 'code', hasTotal: true, updates: [] });
  const long = listOf({ kind: 'long', pages: 12, order: 'code', hasTotal: true, updates: [] });
  const suspecting = (list: WatchedList): WatchedList => ({ ...list, gone: new Map([['1', 0]]) });
  const spending = { perMinute: 10, nowMs: 60_000 };
  expect(chooseSweep([readable(suspecting(long))], spending)).toBeNull();
  const all = [readable(long), readable(suspecting(short))];
  expect(chooseSweep(all, spending)).toEqual({ kind: 'short', pages: 1 });
  expect(chooseSweep([readable(suspecting(short), { askedMs: 50_000 })], spending)).toBeNull();
  const soon = { everyMs: HOUR_MS, nextMs: 120_000 };
  expect(chooseSweep([readable(suspecting(short), { sweeps: soon })], spending)).toBeNull();
  expect(chooseSweep([readable(suspecting(short), { sweeps: null })], spending)).toBeNull();
});

test('where more rows came and went than can be searched for, a sweep is asked for', () => {
  const list = listOf({ kind: 'k', pages: 12, order: 'code', hasTotal: true, updates: [] });
  const total = (list.total ?? 0) + 20;
  const ids = list.frame.ids.slice(0, STRIDE).map(String);
  const torn = observePage(list, { page: 1, ids, total, atMs: 1000 });
  const spending = { perMinute: 10, nowMs: 60_000 };
  expect(chooseSweep([readable(torn)], spending)).toEqual({ kind: 'k', pages: Math.ceil(total / STRIDE) });
  expect(chooseSweep([readable(torn)], { ...spending, perMinute: 2 })).toBeNull(); // Nothing else would be read.
});

test('where no page lies between two others, none is read to search there', () => {
  const list = listOf({ kind: 'clients', pages: 3, order: 'code', hasTotal: true, updates: [1, 1, 1] });
  const nowMs = 100_000 * HOUR_MS;
  const gaps = [0, 1, 2].map((page) => ({
    by: 1,
    after: { page, id: null },
    before: { page: page + 1, id: null },
  }));
  const readMs = [nowMs - HOUR_MS, nowMs - HOUR_MS, nowMs - HOUR_MS];
  const read = chooseRead([readable({ ...list, gaps, readMs, totalMs: nowMs, agreedMs: nowMs })], nowMs);
  expect(read?.why).not.toBe('locate');
  expect(read?.page).toBeGreaterThanOrEqual(1);
});
