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
  /** Where rows are searched for that came or went; null = nowhere. */
  readonly gap: RowGap | null;
}

/** Rows came or went between two pages: the rows of each stand so many places behind those in `ids`. */
interface RowGap {
  readonly after: number;
  readonly shiftAfter: number;
  readonly before: number;
  readonly shiftBefore: number;
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
  { kind, order, total }: { readonly kind: string; readonly order: ListOrder; readonly total: number | null },
  pages: readonly PageReading[],
  pageSize: number | null,
): WatchedList {
  const shown = pages.filter(({ ids }) => ids.length > 0).toSorted((a, b) => a.page - b.page);
  const first = Math.max(1, shown[0]?.ids.length ?? 0);
  // A record on two pages moved meanwhile: the later page counts.
  const ids = [...new Set(shown.flatMap((reading) => reading.ids).reverse())].reverse();
  return {
    kind,
    order,
    total,
    stride: shown.length > 1 ? first : Math.max(first, pageSize ?? Number.MAX_SAFE_INTEGER),
    ids,
    places: placesOf(ids),
    readMs: new Map(pages.map(({ page, atMs }) => [page, atMs])),
    totalMs: Math.max(0, ...pages.map(({ atMs }) => atMs)),
    hidden: (total ?? ids.length) - ids.length,
    gap: null,
  };
}

const placesOf = (ids: readonly string[]): ReadonlyMap<string, number> =>
  new Map(ids.map((id, place) => [id, place]));

/** Pages that the list has now. Without a total, a full page may have a successor. */
export const pageCount = ({ ids, stride, total }: WatchedList): number =>
  Math.max(1, Math.ceil((total ?? ids.length + 1) / stride));

/** The page on which new records are expected, by the order of the list; null = any. */
export function pageOfNew(list: WatchedList): number | null {
  const pages = pageCount(list);
  if (list.order === 'code' && pages > 1) return null;
  return list.order.endsWith('newest first') ? 1 : pages;
}

/** The page that tells most about rows that came or went: where new ones are expected, then the middle of the gap. */
export function probeOf(list: WatchedList): number | null {
  const { gap } = list;
  if (gap === null) return null;
  const isNew = gap.after === 0 && gap.before > pageCount(list);
  return (isNew ? pageOfNew(list) : null) ?? Math.floor((gap.after + gap.before) / 2);
}

/** Adds what a page has shown: when it was read, where its records stand, and how many rows the list has. */
export function observePage(list: WatchedList, reading: PageReading): WatchedList {
  const { page, total, atMs } = reading;
  const read = { ...list, readMs: new Map(list.readMs).set(page, atMs) };
  if (list.total === null || total === null) return placePage(read, reading).list;
  const told = { ...read, total, totalMs: Math.max(atMs, list.totalMs) };
  const { list: placed, shift } = placePage(told, reading);
  if (list.gap === null || placed.ids !== list.ids) return searchAnew(placed);
  return searchOn(placed, list.gap, page, shift);
}

/**
 * Puts the records of a page where it shows them: what stood between them, and is not shown, has gone. Gives how many places
 * behind those in `ids` its rows stand (`shift`; null = none was known).
 */
function placePage(list: WatchedList, { page, ids }: PageReading) {
  const offset = (page - 1) * list.stride;
  const known = placesInOrder(list, ids, offset);
  const [start = Math.min(offset, list.ids.length)] = known;
  const end = known.length === 0 ? start : Math.max(...known) + 1;
  const shown = new Set(ids);
  const before = list.ids.slice(0, start).filter((id) => !shown.has(id));
  const shift = known.length === 0 ? null : offset - before.length;
  const isAsBefore = end - start === ids.length && ids.every((id, index) => list.ids[start + index] === id);
  if (isAsBefore) return { list, shift };
  const placed = [...before, ...ids, ...list.ids.slice(end).filter((id) => !shown.has(id))];
  return { list: { ...list, ids: placed, places: placesOf(placed) }, shift };
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

/** Rows that the total has more or fewer than were placed. */
const strayRows = ({ total, ids, hidden }: WatchedList): number => (total ?? 0) - ids.length - hidden;

/** Begins to search for stray rows. Where one page is expected to have the new ones, those that went are not searched for. */
function searchAnew(list: WatchedList): WatchedList {
  const shiftBefore = strayRows(list);
  const isLeft = shiftBefore < 0 && pageOfNew(list) !== null;
  if (shiftBefore === 0 || isLeft) return leaveStrays(list);
  return { ...list, gap: { after: 0, shiftAfter: 0, before: pageCount(list) + 1, shiftBefore } };
}

/** Halves the gap by a page whose rows have shifted so far: rows came or went before it, or after it. */
function searchOn(list: WatchedList, gap: RowGap, page: number, shift: number | null): WatchedList {
  const pages = pageCount(list);
  const { after, shiftAfter, before, shiftBefore } = gap;
  const hasMoved = before > pages && shiftBefore !== strayRows(list);
  if (hasMoved || Math.min(before, pages + 1) <= after) return searchAnew(list);
  if (page <= after || page >= before) return list;
  if (shift === null) return leaveStrays(list);
  const isAfter = shift === shiftAfter || shift < Math.min(shiftAfter, shiftBefore); // Rows that came are found first.
  const half = isAfter
    ? { ...gap, after: page, shiftAfter: shift }
    : { ...gap, before: page, shiftBefore: shift };
  if (half.before - half.after > 1) return { ...list, gap: half };
  const went = half.shiftAfter - half.shiftBefore; // Between two pages there is no other: they went there.
  if (went <= 0) return leaveStrays(list); // The list moved during the search.
  const place = Math.min(half.after * list.stride, list.total ?? 0) - half.shiftAfter;
  const ids = list.ids.toSpliced(Math.max(0, place), went);
  return searchAnew({ ...list, ids, places: placesOf(ids) });
}

/** Leaves stray rows to the next sweep. */
const leaveStrays = (list: WatchedList): WatchedList => ({
  ...list,
  gap: null,
  hidden: list.hidden + strayRows(list),
});
