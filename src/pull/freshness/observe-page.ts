import { placePage } from './place-page.ts';
import type { PageReading, PlacedPage } from './place-page.ts';
import { closeGaps, countRows, narrowGaps, takeLocated } from './row-gaps.ts';
import { gapsOf, pageCount, placeOfNew } from './watched-list.ts';
import type { WatchedList } from './watched-list.ts';

/** Adds what a page has shown: when it was read, and where rows came and went. Concludes nothing about any record. */
export function observePage(list: WatchedList, reading: PageReading): WatchedList {
  const { page, total, atMs } = reading;
  const read = { ...list, readMs: withValue(list.readMs, page - 1, atMs) };
  if (list.total === null) return addPlaced(read, reading, { ...placePage(read, reading), mark: null });
  if (total === null) return read;
  const told = {
    ...countRows(read, total),
    rowsMore: countMore(read, page, total),
    totalMs: Math.max(atMs, list.totalMs),
  };
  const wasSearched = gapsOf(told).some(({ after, before }) => page > after.page && page < before.page);
  const placed = placePage(told, reading);
  const settled = closeGaps(addPlaced(told, reading, placed));
  const agreed = settled.gaps.length === 0 ? { ...settled, effort: 0, agreedMs: settled.totalMs } : settled;
  return judgeEffort(agreed, { wasSearched, hasFound: placed.by !== 0 });
}

/** Rows that came since the page was read where new records are expected. */
function countMore(list: WatchedList, page: number, total: number): number {
  return page === placeOfNew(list) ? 0 : list.rowsMore + Math.max(0, total - (list.total ?? total));
}

/** A copy of a list of numbers with one of them set. */
function withValue(values: readonly number[], index: number, value: number): number[] {
  const copy = [...values];
  while (copy.length < index) copy.push(0);
  copy[index] = value;
  return copy;
}

function addPlaced(list: WatchedList, reading: PageReading, placed: PlacedPage): WatchedList {
  const { page, ids, atMs } = reading;
  const gone = new Map(list.gone);
  for (const id of ids) gone.delete(id);
  for (const id of placed.gone) gone.set(id, atMs);
  const newPlaces = countPlaces(list, page, placed.added);
  const found = { ...takeLocated(list, page, placed), gone, newPlaces };
  return placed.mark === null ? found : narrowGaps(found, page, placed.mark);
}

function countPlaces(list: WatchedList, page: number, rows: number): WatchedList['newPlaces'] {
  const { newPlaces } = list;
  const pages = pageCount(list);
  if (rows === 0 || pages === 1) return newPlaces;
  const where = page === 1 ? 'head' : page >= pages ? 'tail' : 'between';
  return { ...newPlaces, [where]: newPlaces[where] + rows };
}

/** Readings that find nothing before a search pauses. */
const mostEffort = (pages: number): number => 3 * Math.ceil(Math.log2(pages + 1)) + 6;
const PAUSE_MS = 300_000;
const MOST_DOUBLED = 6;

function judgeEffort(
  list: WatchedList,
  { wasSearched, hasFound }: { readonly wasSearched: boolean; readonly hasFound: boolean },
): WatchedList {
  const { totalMs, givenUp } = list;
  if (totalMs < list.searchFromMs) return { ...list, effort: 0 };
  if (hasFound) return { ...list, effort: 0, givenUp: 0 };
  const effort = wasSearched ? list.effort + 1 : list.effort;
  if (effort <= mostEffort(pageCount(list))) return { ...list, effort };
  const searchFromMs = totalMs + PAUSE_MS * 2 ** Math.min(givenUp, MOST_DOUBLED);
  return { ...list, effort: 0, searchFromMs, givenUp: givenUp + 1 };
}
