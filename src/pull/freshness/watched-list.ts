import type { ListOrder } from '../../catalog/kind.ts';

/** A list, as its last complete sweep and the responses since then have shown it. It concludes nothing about any record. */
export interface WatchedList {
  readonly kind: string;
  readonly order: ListOrder;
  /** Rows on a full page. */
  readonly stride: number;
  /** The records in their order, and the place of each, from 0. */
  readonly ids: readonly string[];
  readonly places: ReadonlyMap<string, number>;
  /** When each page was read last. */
  readonly readMs: ReadonlyMap<number, number>;
  /** Rows by the latest response, and when it told them; null = responses do not tell. */
  readonly total: number | null;
  readonly totalMs: number;
  /** Rows that the total counts beyond `ids`, and that are not searched for: no page shows them. */
  readonly hidden: number;
  /** Rows that came, by the total, and that no page has shown yet. */
  readonly risen: number;
  /** Where rows are searched for; null = nowhere. */
  readonly gap: RowGap | null;
  /** New records that readings have found on the page that is expected to have them, and on others. */
  readonly found: { readonly expected: number; readonly elsewhere: number };
}

/** Rows came or went between two pages: the rows of each stand so many places behind those in `ids`. */
interface RowGap {
  readonly after: number;
  readonly shiftAfter: number;
  readonly before: number;
  readonly shiftBefore: number;
  readonly readings: number;
}

/** A page as a list response has shown it. */
export interface PageReading {
  readonly page: number;
  readonly ids: readonly string[];
  /** Rows of the list, as `meta` tells; null = it does not. */
  readonly total: number | null;
  readonly atMs: number;
}

/**
 * Begins to watch a list from the pages of its last complete sweep on, each once.
 *
 * @param pageSize The size of a page that `meta` has named; null = none.
 */
export function watchList(
  start: Pick<WatchedList, 'kind' | 'order' | 'total' | 'hidden' | 'found'>,
  pages: readonly PageReading[],
  pageSize: number | null,
): WatchedList {
  const shown = pages.filter(({ ids }) => ids.length > 0).toSorted((a, b) => a.page - b.page);
  const first = Math.max(1, shown[0]?.ids.length ?? 0);
  // A record on two pages moved meanwhile: the later page counts.
  const ids = [...new Set(shown.flatMap((reading) => reading.ids).reverse())].reverse();
  return {
    ...start,
    stride: shown.length > 1 ? first : Math.max(first, pageSize ?? Number.MAX_SAFE_INTEGER),
    ids,
    places: placesOf(ids),
    readMs: new Map(pages.map(({ page, atMs }) => [page, atMs])),
    totalMs: Math.max(0, ...pages.map(({ atMs }) => atMs)),
    risen: 0,
    gap: null,
  };
}

const placesOf = (ids: readonly string[]): ReadonlyMap<string, number> =>
  new Map(ids.map((id, place) => [id, place]));

/** Pages that the list has now. Without a total, a full page may have a successor. */
export const pageCount = ({ ids, stride, total }: WatchedList): number =>
  Math.max(1, Math.ceil((total ?? ids.length + 1) / stride));

/** The page on which new records are expected, by the order of the list and by where they were found; null = any. */
export function pageOfNew(list: WatchedList): number | null {
  const { order, found } = list;
  const pages = pageCount(list);
  if (pages === 1) return 1;
  if (order === 'code' || found.elsewhere > 3 * (found.expected + 1)) return null;
  return order.endsWith('newest first') ? 1 : pages;
}

/** Adds what a page has shown: when it was read, where its records stand, and how many rows the list has. */
export function observePage(list: WatchedList, reading: PageReading): WatchedList {
  const { page, total, atMs } = reading;
  const read = { ...list, readMs: new Map(list.readMs).set(page, atMs) };
  if (list.total === null || total === null) return placePage(read, reading).list;
  const risen = list.risen + Math.max(0, total - list.total);
  const told = { ...read, total, totalMs: Math.max(atMs, list.totalMs), risen };
  const { list: placed, shift, news } = placePage(told, reading);
  const left = { ...placed, risen: Math.max(0, risen - news) };
  if (left.gap !== null && placed.ids === list.ids) return searchOn(left, left.gap, page, shift);
  const place = pageOfNew(told);
  return place === null || place === page || left.gap !== null ? searchAnew(left) : left;
}

/**
 * Puts the records of a page where it shows them: what stood between them, and is not shown, has gone. Gives how many places
 * behind those in `ids` its rows stand (`shift`; null = none was known), and how many records the list was not known to have.
 */
function placePage(list: WatchedList, { page, ids }: PageReading) {
  const offset = page === 1 ? 0 : (page - 1) * list.stride;
  const known = placesInOrder(list, ids, offset);
  const [start = Math.min(offset, list.ids.length)] = known;
  const end = known.length === 0 ? start : Math.max(...known) + 1;
  const shown = new Set(ids);
  const before = list.ids.slice(0, start).filter((id) => !shown.has(id));
  const shift = known.length === 0 ? null : offset - before.length;
  const isAsBefore = end - start === ids.length && ids.every((id, index) => list.ids[start + index] === id);
  if (isAsBefore) return { list, shift, news: 0 };
  const placed = [...before, ...ids, ...list.ids.slice(end).filter((id) => !shown.has(id))];
  const news = ids.filter((id) => !list.places.has(id)).length;
  const found = countNew(list, page, news);
  return { list: { ...list, ids: placed, places: placesOf(placed), found }, shift, news };
}

/** The places of the known records of a page, without those that have moved from elsewhere; the first is the lowest. */
function placesInOrder({ places, stride }: WatchedList, ids: readonly string[], offset: number): number[] {
  const known = ids.flatMap((id, index) => {
    const place = places.get(id);
    return place === undefined ? [] : [{ place, shift: offset + index - place }];
  });
  const shifts = known.map(({ shift }) => shift).sort((a, b) => a - b);
  const middle = shifts[shifts.length >> 1] ?? 0;
  return known
    .filter(({ shift }) => Math.abs(shift - middle) <= stride / 4)
    .map(({ place }) => place)
    .sort((a, b) => a - b);
}

function countNew(list: WatchedList, page: number, news: number): WatchedList['found'] {
  const { expected, elsewhere } = list.found;
  if (pageCount(list) === 1) return list.found;
  return page === pageOfNew({ ...list, found: { expected: 0, elsewhere: 0 } })
    ? { expected: expected + news, elsewhere }
    : { expected, elsewhere: elsewhere + news };
}

/**
 * Begins to search for rows that the total has more or fewer than were placed. Where one page is expected to have new ones,
 * only those are searched for that it does not show.
 */
function searchAnew(list: WatchedList): WatchedList {
  const shiftBefore = (list.total ?? 0) - list.ids.length;
  const isSearched = shiftBefore !== list.hidden && (list.risen > 0 || pageOfNew(list) === null);
  if (!isSearched || shiftBefore === 0) return { ...list, risen: 0, gap: null };
  return { ...list, gap: { after: 0, shiftAfter: 0, before: pageCount(list) + 1, shiftBefore, readings: 0 } };
}

/** Halves the gap by a page whose rows have shifted so far: rows came or went before it, or after it. */
function searchOn(list: WatchedList, gap: RowGap, page: number, shift: number | null): WatchedList {
  const pages = pageCount(list);
  const hasMoved = gap.before > pages && gap.shiftBefore !== (list.total ?? 0) - list.ids.length;
  if (hasMoved || Math.min(gap.before, pages + 1) <= gap.after) return searchAnew(list);
  if (shift === null || page <= gap.after || page >= gap.before) return list;
  const { shiftAfter, shiftBefore } = gap;
  const isAfter = shift === shiftAfter || shift < Math.min(shiftAfter, shiftBefore); // Rows that came are found first.
  const readings = gap.readings + 1;
  const half = isAfter
    ? { ...gap, after: page, shiftAfter: shift, readings }
    : { ...gap, before: page, shiftBefore: shift, readings };
  const isOpen = half.before - half.after > 1 && readings < 2 * Math.log2(pages) + 4;
  return isOpen ? { ...list, gap: half } : closeGap(list, half);
}

/** Between two pages there is no other: rows went there. Else the list moved during the search, and the next sweep finds them. */
function closeGap(list: WatchedList, { after, shiftAfter, before, shiftBefore }: RowGap): WatchedList {
  const went = shiftAfter - shiftBefore;
  const total = list.total ?? 0;
  if (before - after > 1 || went <= 0)
    return { ...list, gap: null, risen: 0, hidden: total - list.ids.length };
  const place = Math.min(after * list.stride, total) - shiftAfter;
  const ids = list.ids.toSpliced(Math.max(0, place), went);
  return searchAnew({ ...list, ids, places: placesOf(ids) });
}
