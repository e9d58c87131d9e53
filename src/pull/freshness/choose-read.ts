import { newestPage, pageToSearch, pagesOf, type FollowedList } from './followed-list.ts';

/** A list, and what else decides about reading it. */
export interface ReadableList {
  readonly list: FollowedList;
  /** No sweep reads it, and none is about to. */
  readonly isFree: boolean;
  /** One of our creates waits to be found in it. */
  readonly isAwaited: boolean;
}

/** Changes are counted over this time: yesterday predicts today. */
export const HISTORY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
/** Limits each page's rate to 1/16 to 16 times the mean, so that no page starves and none is read all the time. */
const MAX_RATE_RATIO = 16;

/**
 * Chooses the next page to read: the newest page of a list, else the pages in turn; null if none may be read.
 *
 * A page that changes at a rate r and was read a ago is worth r·a²: where the best is always read, intervals are proportional
 * to 1/√r, which keeps changes unseen for the shortest time (Cho & Garcia-Molina 2003). New records are weighed likewise. Rates
 * are shares of all updates, and of all new records: seeing either sooner is worth the same. Little evidence is drawn towards
 * the mean: half an event is added everywhere.
 */
export function chooseRead(
  lists: readonly ReadableList[],
  nowMs: number,
): { kind: string; page: number } | null {
  const counted = lists.map((readable) => ({ ...readable, pages: pagesOf(readable.list) }));
  const allPages = counted.flatMap(({ pages }) => pages);
  const created = sumOf(lists.map(({ list }) => list.created + 0.5));
  const updated = sumOf(allPages.map((page) => page.updated + 0.5));
  const mean = updated / allPages.length;
  let best = null;
  let bestWorth = -1;
  for (const { list, isFree, isAwaited, pages } of counted) {
    if (!isFree) continue;
    const share = isAwaited ? 1 : (list.created + 0.5) / created;
    const newest = newestPage(list, pages.length);
    const places = newest === null ? pages.length : 1;
    const search = pageToSearch(list, pages);
    for (const [index, { readMs, updated: updates }] of pages.entries()) {
      const page = index + 1;
      const rate = Math.min(mean * MAX_RATE_RATIO, Math.max(mean / MAX_RATE_RATIO, updates + 0.5)) / updated;
      let worth = rate * (nowMs - readMs) ** 2;
      if (list.total !== null)
        worth += share * (nowMs - list.readMs) ** 2; // Any page shows that rows came.
      else if (newest === null || newest === page) worth += (share / places) * (nowMs - readMs) ** 2;
      if (search === page) worth += (HISTORY_MS * HOUR_MS) / created; // The record would wait for an hour else.
      if (worth <= bestWorth) continue;
      bestWorth = worth;
      best = { kind: list.kind, page };
    }
  }
  return best;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
