import type { Change } from '../../diff/compare-page.ts';
import { pageCount, newRecordsPage, pageToSearch, type WatchedList } from './watched-list.ts';

/** How often a list has changed within a day. */
export interface ChangeHistory {
  readonly created: number;
  readonly updated: ReadonlyMap<string, number>;
}

/** A list, and what else decides about reading it. */
export interface ReadableList {
  readonly list: WatchedList;
  readonly history: ChangeHistory;
  /** No sweep reads it, and none is about to. */
  readonly isFree: boolean;
  /** One of our creates waits to be found in it. */
  readonly isAwaited: boolean;
}

/** The next page to read. */
export interface NextRead {
  readonly kind: string;
  readonly page: number;
  /** The purpose: rows that came or went are searched for, or pages that may have changed are looked at. */
  readonly why: 'search' | 'look';
}

/** Changes are counted over this time: yesterday predicts today. */
export const HISTORY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
/** Limits each page's rate to 1/16 to 16 times the mean, so that no page starves and none is read all the time. */
const MAX_RATE_RATIO = 16;

export function countChanges(
  history: ChangeHistory,
  changes: readonly { readonly change: Change; readonly recordId: string }[],
): ChangeHistory {
  const updated = new Map(history.updated);
  let { created } = history;
  for (const { change, recordId } of changes) {
    if (change === 'created' || change === 'restored') created++;
    if (change === 'updated') updated.set(recordId, (updated.get(recordId) ?? 0) + 1);
  }
  return { ...history, created, updated };
}

/**
 * Chooses the next page to read; null if none may be read.
 *
 * A page that changes at a rate r and was read a ago is worth r·a²: where the best is always read, intervals are proportional
 * to 1/√r, which keeps changes unseen for the shortest time (Cho & Garcia-Molina 2003). New records are weighed likewise, by the
 * time since the list last showed them. Rates are shares of all updates, and of all new records: seeing either sooner is
 * worth the same. Little evidence is drawn towards the mean: half an event is added everywhere.
 */
export function chooseRead(lists: readonly ReadableList[], nowMs: number): NextRead | null {
  const counted = lists.map((readable) => {
    const { list, history } = readable;
    const updates = Array<number>(pageCount(list)).fill(0.5); // Of each page.
    for (const [id, times] of history.updated) {
      const page = Math.floor((list.places.get(id) ?? Infinity) / list.rowsPerPage);
      if (page < updates.length) updates[page] = (updates[page] ?? 0) + times;
    }
    return { ...readable, created: history.created + 0.5, updates };
  });
  const created = sumOf(counted.map((list) => list.created));
  const updated = sumOf(counted.flatMap((list) => list.updates));
  const mean = updated / sumOf(counted.map((list) => list.updates.length));
  let best: NextRead | null = null;
  let bestWorth = -1;
  for (const { list, isFree, isAwaited, created: newRecords, updates } of counted) {
    if (!isFree) continue;
    const worthOfNew = newRecordsWorth(list, isAwaited ? 1 : newRecords / created, nowMs);
    const probe = pageToSearch(list);
    for (const [index, count] of updates.entries()) {
      const page = index + 1;
      const isSearch = page === probe;
      const rate = Math.min(mean * MAX_RATE_RATIO, Math.max(mean / MAX_RATE_RATIO, count)) / updated;
      const searchBonus = isSearch ? (HISTORY_MS * HOUR_MS) / created : 0; // It would wait for an hour else.
      const worth = rate * (nowMs - (list.readMs.get(page) ?? 0)) ** 2 + worthOfNew(page) + searchBonus;
      if (worth <= bestWorth) continue;
      bestWorth = worth;
      best = { kind: list.kind, page, why: isSearch ? 'search' : 'look' };
    }
  }
  return best;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** The value of a page for new records: all of its list if it has a total, else the ones it shows. */
function newRecordsWorth(list: WatchedList, share: number, nowMs: number): (page: number) => number {
  if (list.total !== null) return () => share * (nowMs - list.totalMs) ** 2;
  const place = newRecordsPage(list);
  const ofPage = place === null ? share / pageCount(list) : share;
  return (page) =>
    place === null || page === place ? ofPage * (nowMs - (list.readMs.get(page) ?? 0)) ** 2 : 0;
}
