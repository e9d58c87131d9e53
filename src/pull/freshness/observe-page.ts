import { gapsOf, idsAt, pageCount, placeOfNew, placesBetween } from './watched-list.ts';
import type { ListFrame, WatchedList } from './watched-list.ts';
import { closeGaps, countRows, narrowGaps, takeLocated } from './row-gaps.ts';
import type { PlacedPage } from './row-gaps.ts';

/** A list response as freshness uses it. */
export interface PageReading {
  readonly page: number;
  readonly ids: readonly string[];
  /** Rows of the list, as `meta` tells; null = it does not. */
  readonly total: number | null;
  readonly atMs: number;
}

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

/** A record that the frame has, with its index on the page. */
interface Known {
  readonly id: string;
  readonly index: number;
  readonly place: number;
  /** How many places behind the expected one it stands. */
  readonly shift: number;
}

/** Compares a page with what is expected on it: a record that stands elsewhere has moved, or others came or went. */
function placePage(list: WatchedList, { page, ids }: PageReading): PlacedPage {
  const { places, stride } = list.frame;
  const offset = page === 1 ? 0 : (page - 1) * stride;
  const known = ids.flatMap((id, index): Known | [] => {
    const place = places.get(id);
    return place === undefined ? [] : { id, index, place, shift: offset + index - place };
  });
  return walk(list, ids, { firm: inPlace(known, stride), offset });
}

interface Expected {
  readonly firm: readonly Known[];
  /** The place at which the page begins, if nothing has shifted. */
  readonly offset: number;
}

/** Goes through the rows of a page: what stands between two records in place came, what is missing there went. */
function walk({ frame }: WatchedList, ids: readonly string[], { firm, offset }: Expected): PlacedPage {
  const inserted = new Map<number, string[]>();
  const removed = new Set<number>();
  const shown = new Set(ids);
  const firmAt = new Map(firm.map((known) => [known.index, known]));
  let before: Known | null = null;
  let fresh: string[] = [];
  for (const [index, id] of ids.entries()) {
    const known = firmAt.get(index);
    if (known === undefined) {
      fresh.push(id);
      continue;
    }
    if (fresh.length > 0) inserted.set(known.place, fresh);
    if (before !== null)
      for (const place of placesBetween(frame, before, known).filter(
        (place) => !isShown(frame, place, shown),
      ))
        removed.add(place);
    [before, fresh] = [known, []];
  }
  const end = before === null ? Math.min(offset, frame.ids.length) : before.place + 1;
  if (fresh.length > 0) inserted.set(end, fresh);
  return finish(frame, { inserted, removed, firm });
}

interface Walked {
  readonly inserted: ReadonlyMap<number, readonly string[]>;
  readonly removed: ReadonlySet<number>;
  readonly firm: readonly Known[];
}

/** A record that stands in another place now has left its old one. */
function finish(frame: ListFrame, { inserted, removed, firm }: Walked): PlacedPage {
  const gone = idsAt(frame, removed);
  const came = [...inserted.values()].flat();
  const moved = came.flatMap((id) => frame.places.get(id) ?? []);
  const edit = { inserted, removed: new Set([...removed, ...moved]) };
  const found = { ...edit, gone, added: came.length, by: came.length - edit.removed.size };
  const [first, last] = [firm[0], firm.at(-1)];
  if (first === undefined || last === undefined) return { ...found, mark: null };
  const left = moved.filter((place) => place < first.place).length;
  return { ...found, mark: { first: first.id, last: last.id, shift: first.shift - first.index + left } };
}

const isShown = ({ ids }: ListFrame, place: number, shown: ReadonlySet<string>): boolean =>
  shown.has(ids[place] ?? '');

/** Records that kept their order: all but those that stand more than a page away from most others, or out of order. */
function inPlace(known: readonly Known[], stride: number): Known[] {
  const shifts = known.map(({ shift }) => shift).sort((a, b) => a - b);
  const middle = shifts[shifts.length >> 1] ?? 0;
  const near = known.filter(({ shift }) => Math.abs(shift - middle) <= stride);
  return inOrder(near) ? near : longestRising(near);
}

const inOrder = (known: readonly Known[]): boolean =>
  known.every(({ place }, index) => index === 0 || place > (known[index - 1]?.place ?? 0));

/** The longest part whose places rise. */
function longestRising(known: readonly Known[]): Known[] {
  const ends: number[] = []; // By length less one: the index that ends a rising part with the lowest place.
  const before: (number | undefined)[] = [];
  const placeOf = (index: number | undefined): number =>
    index === undefined ? 0 : (known[index]?.place ?? 0);
  for (const [index, { place }] of known.entries()) {
    let length = 0;
    while (length < ends.length && placeOf(ends[length]) < place) length++;
    before[index] = ends[length - 1];
    ends[length] = index;
  }
  const rising: Known[] = [];
  for (let index = ends.at(-1); index !== undefined; index = before[index])
    rising.unshift(...known.slice(index, index + 1));
  return rising;
}
