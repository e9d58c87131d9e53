import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListOrder } from '../../../src/catalog/kind.ts';
import { formatIds } from '../../../src/diff/page-ids.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import { chooseRead } from '../../../src/pull/freshness/choose-read.ts';
import {
  addResponses,
  beginList,
  pagesOf,
  type FollowedList,
} from '../../../src/pull/freshness/followed-list.ts';
import type { NotedChange } from '../../../src/store/sightings/sighting-store.ts';

const ROWS_PER_PAGE = 5;
const MINUTE_MS = 60_000;
const ORDERS: readonly ListOrder[] = [
  'code',
  'created, newest first',
  'created, oldest first',
  'pickup date, newest first',
  'unknown',
];

/** A list of the service, and what is known of it. */
interface Shown {
  readonly ids: string[];
  readonly hasTotal: boolean;
  readonly changes: NotedChange[];
  list: FollowedList;
}

interface ListPlan {
  readonly rows: number;
  readonly order: ListOrder;
  readonly hasTotal: boolean;
  /** Rows, as often as they were updated. */
  readonly updates?: readonly number[];
}

let ticks = 0;

function showPage({ ids, hasTotal }: Pick<Shown, 'ids' | 'hasTotal'>, page: number, atMs: number) {
  const shown = ids.slice((page - 1) * ROWS_PER_PAGE, page * ROWS_PER_PAGE);
  const total = hasTotal ? ids.length : null;
  const seenAt = formatInstant(new Date(atMs));
  return { page, ids: formatIds(shown), rows: shown.length, total, answered: ++ticks, seenAt };
}

const noteChange = (change: NotedChange['change'], recordId: string): NotedChange => ({
  seq: ++ticks,
  kind: 'k',
  recordId,
  change,
  observedAt: formatInstant(new Date(0)),
  origin: 'service',
});

function followed({ rows, order, hasTotal, updates = [] }: ListPlan, index = 0): Shown {
  const ids = Array.from({ length: rows }, (_, row) => String(1000 * index + row));
  const changes = updates.map((row) => noteChange('updated', ids[row % rows] ?? ''));
  const responses = Array.from({ length: Math.ceil(rows / ROWS_PER_PAGE) }, (_, page) =>
    showPage({ ids, hasTotal }, page + 1, 0),
  );
  const watched = { kind: String(index), pageSize: ROWS_PER_PAGE, lastCompleteSweep: 0 };
  return { ids, hasTotal, changes, list: beginList(watched, order, responses, changes) };
}

/** Reads what is worth most of some lists. */
function readNext(lists: readonly Shown[], nowMs: number) {
  const readable = lists.map(({ list }) => ({ list, isFree: true, isAwaited: false }));
  const next = chooseRead(readable, nowMs);
  const shown = lists.find(({ list }) => list.kind === next?.kind);
  if (next === null || shown === undefined) throw new Error('nothing to read');
  const response = showPage(shown, next.page, nowMs);
  if (response.ids.includes('777')) shown.changes.push(noteChange('created', '777'));
  shown.list = addResponses(shown.list, [response], shown.changes);
  return { ...next, hasNew: response.ids.includes('777') };
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
  .map((plans) => plans.map(followed));

test('where no sweep comes, no page waits for sixteen times as long as reading all in turn would take', () => {
  fc.assert(
    fc.property(anyLists, (all) => {
      const pages = all.reduce((sum, { list }) => sum + pagesOf(list).length, 0);
      const last = new Map<string, number>();
      let longestMs = 0;
      const endMs = 20 * pages * MINUTE_MS;
      for (let nowMs = MINUTE_MS; nowMs <= endMs; nowMs += MINUTE_MS) {
        const { kind, page } = readNext(all, nowMs);
        longestMs = Math.max(longestMs, nowMs - (last.get(`${kind} ${page}`) ?? 0));
        last.set(`${kind} ${page}`, nowMs);
      }
      for (const atMs of last.values()) longestMs = Math.max(longestMs, endMs - atMs);
      expect(last.size).toBe(pages);
      expect(longestMs / (pages * MINUTE_MS)).toBeLessThanOrEqual(16);
    }),
    { numRuns: 12 },
  );
});

/** Pages that are read until the new record is seen. */
function readUntilSeen(shown: Shown, at: number): number[] {
  shown.ids.splice(at, 0, '777');
  const read: number[] = [];
  for (let nowMs = 5 * MINUTE_MS; read.length < 200; nowMs += 1000) {
    const { page, hasNew } = readNext([shown], nowMs);
    read.push(page);
    if (hasNew) return read;
  }
  throw new Error('it was not seen');
}

test('a record that came anywhere in a list with a total is seen within twice the logarithm of its pages', () => {
  const plans = fc.record({ rows: fc.integer({ min: 1, max: 1000 }), order: fc.constantFrom(...ORDERS) });
  fc.assert(
    fc.property(plans, fc.nat(), ({ rows, order }, at) => {
      const shown = followed({ rows, order, hasTotal: true });
      const read = readUntilSeen(shown, at % (rows + 1));
      expect(read.length).toBeLessThanOrEqual(4 + 2 * Math.log2(read.length + rows / ROWS_PER_PAGE));
    }),
    { numRuns: 100 },
  );
});

test.each([
  { order: 'created, newest first', rows: 200, at: 0, page: 1 },
  { order: 'created, oldest first', rows: 202, at: 202, page: 41 },
  { order: 'created, oldest first', rows: 200, at: 200, page: 41 },
] as const)(
  'a record that came where new records come in its list is seen next: $order, $rows rows',
  (plan) => {
    const read = readUntilSeen(followed({ ...plan, hasTotal: true }), plan.at);
    expect(read.length).toBeLessThanOrEqual(2);
    expect(read.at(-1)).toBe(plan.page);
  },
);

test('a row that no page shows is left to the next sweep', () => {
  const shown = followed({ rows: 100, order: 'code', hasTotal: true });
  shown.list = { ...shown.list, total: 101, grewMs: MINUTE_MS };
  shown.ids.push('100');
  const pages = Array.from({ length: 60 }, (_, at) => readNext([shown], MINUTE_MS * (2 + at)).page);
  expect(new Set(pages).size).toBe(21);
});
