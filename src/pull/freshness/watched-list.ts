import type { ListOrder } from '../../catalog/kind.ts';

/** A list, as its last complete sweep and the responses since then have shown it. It concludes nothing about any record. */
export interface WatchedList {
  readonly kind: string;
  readonly order: ListOrder;
  readonly rowsPerPage: number;
  /** The records in their order, and the place of each, from 0. */
  readonly ids: readonly string[];
  readonly places: ReadonlyMap<string, number>;
  readonly readMs: ReadonlyMap<number, number>;
  /** Rows by the latest response, and when it was sent; null = responses have none. */
  readonly total: number | null;
  readonly totalMs: number;
  /** Where rows are searched for that came or went; null = nowhere. */
  readonly gap: RowGap | null;
}

/** Rows that came or went by the total, and that no page has shown: somewhere between two pages. */
interface RowGap {
  /** How many; below 0 = they went. */
  readonly rows: number;
  readonly after: GapEnd;
  readonly before: GapEnd;
}

/** A page beside a gap; its rows stand so many places behind those in `ids`. */
interface GapEnd {
  readonly page: number;
  readonly shift: number;
}

/** A page as a list response has shown it. */
export interface PageReading {
  readonly page: number;
  readonly ids: readonly string[];
  /** Rows of the list according to `meta`; null = unknown. */
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
  const shown = pages.filter((page) => page.ids.length > 0).toSorted((a, b) => a.page - b.page);
  const first = Math.max(1, shown[0]?.ids.length ?? 0);
  // A record on two pages moved meanwhile: the later page counts.
  const ids = [...new Set(shown.flatMap((reading) => reading.ids).reverse())].reverse();
  return {
    kind,
    order,
    total,
    rowsPerPage: shown.length > 1 ? first : Math.max(first, pageSize ?? Number.MAX_SAFE_INTEGER),
    ids,
    places: placesOf(ids),
    readMs: new Map(pages.map((reading) => [reading.page, reading.atMs])),
    totalMs: Math.max(0, ...pages.map((page) => page.atMs)),
    gap: null,
  };
}

const placesOf = (ids: readonly string[]): ReadonlyMap<string, number> =>
  new Map(ids.map((id, place) => [id, place]));

/** Pages that the list has now. Without a total, a full page may have a successor. */
export const pageCount = (list: WatchedList): number =>
  Math.max(1, Math.ceil((list.total ?? list.ids.length + 1) / list.rowsPerPage));

/** The page on which new records are expected, by the order of the list; null = any. */
export function newRecordsPage(list: WatchedList): number | null {
  const pages = pageCount(list);
  if (list.order === 'code' && pages > 1) return null;
  return list.order.endsWith('newest first') ? 1 : pages;
}

/** The page to read next in the search: where new rows are expected, then the middle of the gap. */
export function pageToSearch(list: WatchedList): number | null {
  const { gap } = list;
  if (gap === null) return null;
  const isNew = gap.after.page === 0 && gap.before.page > pageCount(list);
  return (isNew ? newRecordsPage(list) : null) ?? Math.floor((gap.after.page + gap.before.page) / 2);
}

/** Adds what a page has shown: when it was read, where its records stand, and how many rows the list has. */
export function observePage(list: WatchedList, reading: PageReading): WatchedList {
  const { page, total, atMs } = reading;
  const { ids, shift } = placePage(list, reading);
  const readMs = new Map(list.readMs).set(page, atMs);
  const isAsBefore = ids === list.ids;
  const read = { ...list, ids, places: isAsBefore ? list.places : placesOf(ids), readMs };
  if (list.total === null || total === null) return read;
  const known = { ...read, total, totalMs: Math.max(atMs, list.totalMs) };
  const rows = (list.gap?.rows ?? 0) + total - list.total - (ids.length - list.ids.length);
  if (list.gap === null || !isAsBefore) return beginSearch(known, rows);
  return search(known, { ...list.gap, rows }, page, shift);
}

/**
 * Puts the records of a page where it shows them: what stood between them, and is not shown, has gone. Gives how many places
 * behind those in `ids` its rows stand (`shift`; null = none was known).
 */
function placePage(list: WatchedList, reading: PageReading) {
  const { page, ids } = reading;
  const offset = (page - 1) * list.rowsPerPage;
  const known = placesInOrder(list, ids, offset);
  const [start = Math.min(offset, list.ids.length)] = known;
  const end = known.length === 0 ? start : Math.max(...known) + 1;
  const shown = new Set(ids);
  const before = list.ids.slice(0, start).filter((id) => !shown.has(id));
  const shift = known.length === 0 ? null : offset - before.length;
  const isAsBefore = end - start === ids.length && ids.every((id, index) => list.ids[start + index] === id);
  if (isAsBefore) return { ids: list.ids, shift };
  return { ids: [...before, ...ids, ...list.ids.slice(end).filter((id) => !shown.has(id))], shift };
}

/** The places of the known records of a page, without the ones that moved from elsewhere; the first is the lowest. */
function placesInOrder(list: WatchedList, ids: readonly string[], offset: number): number[] {
  const known = ids.flatMap((id, index) => {
    const place = list.places.get(id);
    return place === undefined ? [] : [{ place, shift: offset + index - place }];
  });
  const shifts = known.map((record) => record.shift).sort((a, b) => a - b);
  const median = shifts[shifts.length >> 1] ?? 0;
  const unmoved = known.filter((record) => Math.abs(record.shift - median) <= list.rowsPerPage / 4);
  return unmoved.map((record) => record.place).sort((a, b) => a - b);
}

/** Begins to search for rows. If one page is expected to have the new ones, deleted rows are left to the next sweep. */
function beginSearch(list: WatchedList, rows: number): WatchedList {
  const isLeftToSweep = rows === 0 || (rows < 0 && newRecordsPage(list) !== null);
  const before = { page: pageCount(list) + 1, shift: rows };
  return { ...list, gap: isLeftToSweep ? null : { rows, after: { page: 0, shift: 0 }, before } };
}

/**
 * Halves the gap by a page: its rows have shifted like those after which the gap begins, or like those before which it ends.
 *
 *            after   page     before
 *     1   2   3   4   5   6   7   8   9     page
 *     0   0   0   ?   0   ?   ?  +1  +1     shift of its rows
 *                     └── so the row came behind page 5: it is the new `after`
 *
 * Where the shifts fall and rise again, rows went and others came: these are found first. They are placed by the page that
 * shows them. Where no page is left in the gap, rows went between the two. Where the list moved during the search, the next
 * sweep finds the rest.
 */
function search(list: WatchedList, gap: RowGap, page: number, shift: number | null): WatchedList {
  const { rows, after, before } = gap;
  const pages = pageCount(list);
  const hasMoved = before.page > pages && before.shift !== rows;
  if (hasMoved || Math.min(before.page, pages + 1) <= after.page) return beginSearch(list, rows);
  if (page <= after.page || page >= before.page) return { ...list, gap };
  if (shift === null) return { ...list, gap: null };
  const isAfter = shift === after.shift || shift < Math.min(after.shift, before.shift);
  const narrowed = { ...gap, [isAfter ? 'after' : 'before']: { page, shift } };
  if (narrowed.before.page - narrowed.after.page > 1) return { ...list, gap: narrowed };
  const removedRows = narrowed.after.shift - narrowed.before.shift;
  if (removedRows <= 0) return { ...list, gap: null };
  const place = Math.min(narrowed.after.page * list.rowsPerPage, list.total ?? 0) - narrowed.after.shift;
  const ids = list.ids.toSpliced(Math.max(0, place), removedRows);
  return beginSearch({ ...list, ids, places: placesOf(ids) }, rows + removedRows);
}
