import { expect, test } from 'vitest';
import { grown, heapInUse } from './figures.ts';
import type { DayFigures } from './figures.ts';

const MB = 1e6;

function dayWith(
  day: number,
  { heap, runs, outbox }: { heap: number; runs: number; outbox: number },
): DayFigures {
  const counts = { pulls: 0, sweeps: 0, certified: 0, events: 0, deleted: 0, restored: 0, entries: 0 };
  return { day, ...counts, findings: 0, wallMs: 0, rss: 0, heap: heap * MB, rows: { runs, outbox } };
}

const EVEN = { heap: 30, runs: 200, outbox: 100 };
const week = (last: Partial<typeof EVEN>): DayFigures[] => [
  ...[1, 2, 3].map((day) => dayWith(day, { ...EVEN, outbox: 100 * day })),
  dayWith(4, { ...EVEN, outbox: 400, ...last }),
];

test('what stays as it was after the second day has not grown', () => {
  expect(grown(week({}))).toEqual([]);
  expect(grown(week({ heap: 37, runs: 340, outbox: 540 }))).toEqual([]);
});

test('a heap, a table that is pruned, and one that grows faster than what happens are told of', () => {
  expect(grown(week({ heap: 39 }))).toEqual([expect.stringMatching(/^heap after day 4: 39000000 bytes/)]);
  expect(grown(week({ runs: 351 }))).toEqual([expect.stringMatching(/^runs on day 4: 351 rows/)]);
  expect(grown(week({ outbox: 551 }))).toEqual([expect.stringMatching(/^outbox on day 4: 551 rows/)]);
});

test('the heap in use is what somebody holds on to, and no more', () => {
  const before = heapInUse();
  const held = Array.from({ length: 200_000 }, (_none, index) => ({ index, text: `row ${index}` }));
  expect(heapInUse()).toBeGreaterThan(before + 5 * MB);
  held.length = 0;
  expect(heapInUse()).toBeLessThan(before + 5 * MB);
});
