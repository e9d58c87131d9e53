import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListOrder } from '../../../src/catalog/kind.ts';
import { startHistory } from '../../../src/pull/freshness/change-rates.ts';
import { chooseRead } from '../../../src/pull/freshness/choose-read.ts';
import { observePage } from '../../../src/pull/freshness/observe-page.ts';
import { gapsOf, pageCount, watchList, frameOf } from '../../../src/pull/freshness/watched-list.ts';
import type { WatchedList } from '../../../src/pull/freshness/watched-list.ts';

const STRIDE = 5;

/** Cuts a list into pages, as the service does. */
const pageOf = (ids: readonly string[], page: number): string[] =>
  ids.slice((page - 1) * STRIDE, page * STRIDE);

function watched(ids: readonly string[], order: ListOrder, neverShown = 0): WatchedList {
  const count = Math.max(1, Math.ceil(ids.length / STRIDE));
  const pages = Array.from({ length: count }, (_, index) => ({
    page: index + 1,
    ids: pageOf(ids, index + 1),
  }));
  return watchList({
    ...{ kind: 'clients', order, hasTotal: true, neverShown, history: startHistory(0) },
    frame: frameOf(pages, STRIDE),
    readMs: pages.map(() => 0),
  });
}

const read = (list: WatchedList, ids: readonly string[], { page, atMs }: { page: number; atMs: number }) =>
  observePage(list, { page, ids: pageOf(ids, page), total: ids.length, atMs });

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `r${index}`);

type Step =
  | { readonly is: 'insert' | 'delete' | 'read'; readonly at: number }
  | { readonly is: 'move'; readonly at: number; readonly to: number };

const place = fc.nat({ max: 999 });
const steps = fc.array(
  fc.oneof(
    fc.record({ is: fc.constantFrom('insert' as const, 'delete' as const, 'read' as const), at: place }),
    fc.record({ is: fc.constant('read' as const), at: place }),
    fc.record({ is: fc.constant('move' as const), at: place, to: place }),
  ),
  { maxLength: 60 },
);
const orders = fc.constantFrom<ListOrder>(
  'code',
  'created, newest first',
  'created, oldest first',
  'unknown',
);

/** Plays changes and readings in any order. */
function play(rows: number, order: ListOrder, acts: readonly Step[]): [WatchedList, string[], number] {
  const ids = namesOf(rows);
  let list = watched(ids, order);
  let [born, atMs] = [rows, 0];
  for (const act of acts) {
    atMs += 1000;
    const at = act.at % Math.max(1, ids.length);
    if (act.is === 'insert') ids.splice(at, 0, `r${born++}`);
    else if (act.is === 'read') list = read(list, ids, { page: 1 + (act.at % pageCount(list)), atMs });
    else {
      const [id] = ids.splice(at, 1);
      if (act.is === 'move' && id !== undefined) ids.splice(act.to % (ids.length + 1), 0, id);
    }
  }
  return [list, ids, atMs];
}

test('the rows that are known and those that are searched for are the total, whatever happens', () => {
  fc.assert(
    fc.property(fc.nat({ max: 80 }), orders, steps, (rows, order, acts) => {
      const [list] = play(rows, order, acts);
      const searched = list.gaps.reduce((sum, { by }) => sum + by, 0);
      expect(list.frame.ids.length + searched).toBe(list.total);
      const known = list.frame.ids.filter((id) => id !== undefined);
      expect(new Set(known).size).toBe(known.length);
      for (const [id, at] of list.frame.places) expect(list.frame.ids[at]).toBe(id);
    }),
  );
});

test('once the list is quiet, the planner finds its way to the true order of every row', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 80 }), orders, steps, (rows, order, acts) => {
      const [played, ids, playedMs] = play(rows, order, acts);
      let [list, atMs] = [played, playedMs];
      for (let turn = 0; turn < 400 && list.frame.ids.join() !== ids.join(); turn++) {
        atMs += 20_000;
        const state = { list, isFree: true, isAwaited: false, sweeps: null, askedMs: null };
        const next = chooseRead([state], atMs);
        expect(next?.page).toBeLessThanOrEqual(pageCount(list));
        list = read(list, ids, { page: next?.page ?? 1, atMs });
      }
      expect(list.frame.ids).toEqual(ids);
    }),
    { numRuns: 60 },
  );
});

test('a record that went is located in about as many readings as the logarithm of the pages', () => {
  const ids = namesOf(3000);
  let list = watched(ids, 'code');
  const gone = ids.splice(1700, 1);
  list = read(list, ids, { page: 1, atMs: 60_000 });
  expect(gapsOf(list)).toHaveLength(1);
  let readings = 0;
  for (let atMs = 200_000; gapsOf(list).length > 0; atMs += 1000) {
    const sweeps = { everyMs: 7_200_000, nextMs: 7_200_000 };
    const next = chooseRead([{ list, isFree: true, isAwaited: false, sweeps, askedMs: null }], atMs);
    list = read(list, ids, { page: next?.page ?? 1, atMs });
    readings++;
  }
  expect([...list.gone.keys()]).toEqual(gone);
  expect(readings).toBeLessThanOrEqual(14);
});

test('a new record at the beginning is found there, and the others keep their places', () => {
  const ids = namesOf(40);
  let list = watched(ids, 'created, newest first');
  ids.unshift('new');
  list = read(list, ids, { page: 1, atMs: 1000 });
  expect(list.frame.ids).toEqual(ids);
  expect(list.gaps).toEqual([]);
});

test('a record that came back is no longer suspected', () => {
  const ids = namesOf(20);
  let list = watched(ids, 'code');
  const [id = ''] = ids.splice(7, 1);
  list = read(list, ids, { page: 2, atMs: 1000 });
  expect([...list.gone.keys()]).toEqual([id]);
  ids.splice(7, 0, id);
  list = read(list, ids, { page: 2, atMs: 2000 });
  expect([...list.gone.keys()]).toEqual([]);
});

test('a list without a total is followed page by page', () => {
  const ids = namesOf(20);
  let list = watchList({ ...watched(ids, 'unknown'), hasTotal: false });
  ids.splice(3, 1);
  ids.push('new');
  for (const page of [1, 2, 3, 4])
    list = observePage(list, { page, ids: pageOf(ids, page), total: null, atMs: 1000 * page });
  expect(list.frame.ids).toEqual(ids);
  expect([...list.gone.keys()]).toEqual(['r3']);
});

test('rows that the total always counts, and no page ever shows, are not searched for', () => {
  const ids = Array.from({ length: 8 }, (_, index) => `r${index}`);
  const list = watched(ids, 'code', 3);
  const same = observePage(list, { page: 1, ids: ids.slice(0, 4), total: 11, atMs: 1 });
  expect(same.gaps).toEqual([]);
  const more = observePage(same, { page: 1, ids: ids.slice(0, 4), total: 12, atMs: 2 });
  expect(more.gaps).toMatchObject([{ by: 1 }]);
});
