import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countChanges, startHistory, withoutRestless } from '../../../src/pull/freshness/change-rates.ts';
import type { CountedChange } from '../../../src/pull/freshness/change-rates.ts';
import { chooseRead } from '../../../src/pull/freshness/choose-read.ts';
import { observePage } from '../../../src/pull/freshness/observe-page.ts';
import { countFound, restlessPages, watchList, frameOf } from '../../../src/pull/freshness/watched-list.ts';
import type { WatchedList } from '../../../src/pull/freshness/watched-list.ts';
import { clockAt, eventsOf, kindsNamed, MIRRORS } from '../steps.ts';
import { pullFrom, rewriting, sandbox } from '../support.ts';
import { passTime, readerOf } from './reading.ts';

const STRIDE = 4;
const [MINUTE_MS, SWEEP_MS] = [60_000, 900_000];

interface Played {
  list: WatchedList;
  readonly pages: readonly (readonly string[])[];
  /** Records that are another one at every reading. */
  readonly volatile: ReadonlySet<string>;
  events: CountedChange[];
}

interface ListOf {
  readonly pages: number;
  readonly hasTotal: boolean;
  readonly volatileRows: readonly number[];
}

function played({ pages: count, hasTotal, volatileRows }: ListOf, index: number): Played {
  const ids = Array.from({ length: count * STRIDE - 1 }, (_, row) => `${index}_${row}`);
  const pages = Array.from({ length: count }, (_, page) => ids.slice(page * STRIDE, (page + 1) * STRIDE));
  const shown = pages.map((own, page) => ({ page: page + 1, ids: own }));
  const start = { kind: `k${index}`, order: 'code', hasTotal, readMs: pages.map(() => 0) } as const;
  const list = watchList({ ...start, frame: frameOf(shown, STRIDE), history: startHistory(0) });
  return {
    list,
    pages,
    volatile: new Set(volatileRows.map((row) => ids[row % ids.length] ?? '')),
    events: [],
  };
}

/** Reads a page: its volatile records are found changed. */
function readPage(one: Played, page: number, atMs: number): void {
  const ids = one.pages[page - 1] ?? [];
  const found = ids
    .filter((id) => one.volatile.has(id))
    .map((id) => ({ change: 'updated', id, atMs }) as const);
  one.events.push(...found);
  one.list = observePage(countFound(one.list, found), { page, ids, total: one.list.total, atMs });
}

/** Reads all pages, which are the new frame. */
function sweep(one: Played, atMs: number): void {
  for (const index of one.pages.keys()) readPage(one, index + 1, atMs);
  const { streaks, frame, kind, order, newPlaces, total } = one.list;
  const history = countChanges(startHistory(0), withoutRestless(one.events, streaks));
  const readMs = one.pages.map(() => atMs);
  one.list = watchList({ kind, order, frame, newPlaces, streaks, history, readMs, hasTotal: total !== null });
}

const anyLists = fc
  .array(
    fc.record({
      pages: fc.integer({ min: 1, max: 6 }),
      hasTotal: fc.boolean(),
      volatileRows: fc.array(fc.nat({ max: 23 }), { maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((lists) => lists.map(played));

const SWEEPS = 8;
const LEARNING = 3;

/** Reads as often as a budget allows, beside sweeps. Returns the readings of each page between sweeps. */
function play(lists: readonly Played[], stepMs: number): Map<string, number> {
  const readings = new Map<string, number>();
  for (let round = 0; round < SWEEPS; round++) {
    for (let nowMs = round * SWEEP_MS + stepMs; nowMs < (round + 1) * SWEEP_MS; nowMs += stepMs) {
      const sweeps = { everyMs: SWEEP_MS, nextMs: (round + 1) * SWEEP_MS };
      const more = { isFree: true, isAwaited: false, sweeps, askedMs: null };
      const next = chooseRead(
        lists.map(({ list }) => ({ list, ...more })),
        nowMs,
      );
      const one = lists.find(({ list }) => list.kind === next?.kind);
      if (next === null || one === undefined) continue;
      readPage(one, next.page, nowMs);
      const name = `${next.kind} ${next.page}`;
      readings.set(name, (readings.get(name) ?? 0) + 1);
    }
    for (const one of lists) sweep(one, (round + 1) * SWEEP_MS);
  }
  return readings;
}

test('a record that is another one at every reading makes at most three times the events of sweeps, once it is known', () => {
  fc.assert(
    fc.property(anyLists, fc.integer({ min: 1000, max: MINUTE_MS }), (lists, stepMs) => {
      play(lists, stepMs);
      for (const { volatile, events } of lists)
        for (const id of volatile)
          expect(events.filter((event) => event.id === id).length).toBeLessThanOrEqual(3 * SWEEPS + LEARNING);
    }),
    { numRuns: 25 },
  );
});

test('such records take no readings from a list that holds none', () => {
  const readingsOfCalm = (volatileRows: readonly number[]): number => {
    const of = (rows: readonly number[]) => ({ pages: 3, hasTotal: true, volatileRows: rows });
    const readings = play([of(volatileRows), of([])].map(played), MINUTE_MS / 2);
    return [...readings].reduce((sum, [name, count]) => (name.startsWith('k1') ? sum + count : sum), 0);
  };
  expect(readingsOfCalm([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])).toBeGreaterThan(readingsOfCalm([]));
});

test('a record that changes now and then is not restless, and one that was is not for ever', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (changes) => {
      const one = played({ pages: 1, hasTotal: true, volatileRows: [0] }, 0);
      const isChanging = new Set<string>();
      const reading = { ...one, volatile: isChanging };
      for (const [index, isChanged] of changes.entries()) {
        isChanging.clear();
        if (isChanged) isChanging.add('0_0');
        readPage(reading, 1, (index + 1) * MINUTE_MS);
        const isInARow = index >= 2 && changes.slice(index - 2, index + 1).every(Boolean);
        expect([...restlessPages(reading.list, 0)]).toEqual(isInARow ? [1] : []);
      }
    }),
  );
});

test('a counter in a short list makes few events more than sweeps make', { timeout: 60_000 }, async () => {
  const [honest, session, clock] = [await sandbox({ size: 10 }), await MIRRORS.SQLite(), clockAt(0)];
  let counter = 0;
  const service = await rewriting(honest, (body) =>
    body.replace(/"name":/, () => `"seen_at":"${counter++}","name":`),
  );
  const kinds = kindsNamed('departments');
  const sweepsOf = (_kind: string, now: Date) => {
    const nowMs = now.getTime();
    return { everyMs: SWEEP_MS, nextMs: Math.ceil((nowMs + 1) / SWEEP_MS) * SWEEP_MS };
  };
  const read = readerOf({ service, session, clock, rules: { kinds, sweepsOf } });
  const sweeps = 3;
  for (let round = 0; round <= sweeps; round++) {
    await pullFrom(service, session, { parts: { clock }, request: { kinds } });
    if (round < sweeps) await passTime(clock, SWEEP_MS, [read]);
  }
  expect((await eventsOf(session)).length).toBeLessThanOrEqual(3 * sweeps + LEARNING);
});
