import type { Change } from '../../diff/judge-page.ts';
import { pageCount } from './watched-list.ts';
import type { WatchedList } from './watched-list.ts';

/** A change of a record, as far as rates are counted. */
export interface CountedChange {
  readonly change: Change;
  readonly id: string;
}

/** The changes of a list since an instant. */
export interface ChangeHistory {
  readonly sinceMs: number;
  readonly created: number;
  /** Updates of each record. */
  readonly updated: ReadonlyMap<string, number>;
}

/** Estimated changes in a minute. */
export interface ChangeRates {
  readonly created: number;
  /** Updates of the records of each page, page 1 first. */
  readonly ofPages: readonly number[];
}

const MINUTE_MS = 60_000;
/** Changes are counted for so long: yesterday tells of today. */
export const HISTORY_MS = 86_400_000;
/** No page is taken to change so many times more or less often than the mean one: all are read, and none is read on and on. */
const MOST_APART = 16;

export function countChanges(history: ChangeHistory, changes: readonly CountedChange[]): ChangeHistory {
  const updated = new Map(history.updated);
  let { created } = history;
  for (const { change, id } of changes) {
    if (change === 'created' || change === 'restored') created++;
    if (change === 'updated') updated.set(id, (updated.get(id) ?? 0) + 1);
  }
  return { ...history, created, updated };
}

/** Estimates rates: little evidence is drawn towards the mean of all lists, half an event of it. */
export function ratesOf(
  lists: readonly { readonly list: WatchedList; readonly history: ChangeHistory }[],
  nowMs: number,
): ReadonlyMap<string, ChangeRates> {
  const counts = lists.map(({ list, history }) => ({
    kind: list.kind,
    created: history.created,
    minutes: Math.max(1, (nowMs - history.sinceMs) / MINUTE_MS),
    updates: updatesByPage(list, history),
  }));
  const sum = (each: (one: (typeof counts)[number]) => number): number =>
    counts.reduce((all, one) => all + each(one), 0);
  const ofPage =
    (1 + sum(({ updates }) => sumOf(updates))) / sum(({ updates, minutes }) => updates.length * minutes);
  const ofList = (1 + sum(({ created }) => created)) / sum(({ minutes }) => minutes);
  const rate = (count: number, minutes: number, mean: number): number =>
    (count + 0.5) / (minutes + 0.5 / mean);
  const near = (value: number): number => Math.min(ofPage * MOST_APART, Math.max(ofPage / MOST_APART, value));
  const rates = new Map<string, ChangeRates>();
  for (const { kind, created, minutes, updates } of counts) {
    const ofPages = updates.map((count) => near(rate(count, minutes, ofPage)));
    rates.set(kind, { created: rate(created, minutes, ofList), ofPages });
  }
  return rates;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

function updatesByPage(list: WatchedList, { updated }: ChangeHistory): number[] {
  const counts = Array<number>(pageCount(list)).fill(0);
  for (const [id, times] of updated) {
    const page = Math.floor((list.places.get(id) ?? Infinity) / list.stride);
    if (page < counts.length) counts[page] = (counts[page] ?? 0) + times;
  }
  return counts;
}
