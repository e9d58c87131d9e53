import type { ListOrder } from '../../catalog/kind.ts';
import { countChanges, weightAt, countStreaks, isRestless, withoutRestless } from './change-rates.ts';
import type { ChangeHistory, CountedChange, ChangeStreaks } from './change-rates.ts';

/** Rows that came (or went, below 0) without being located: between two pages, both of them excluded. */
export interface RowGap {
  readonly by: number;
  readonly after: PageBound;
  readonly before: PageBound;
  /** It is where new records are expected, and no page has shown it. */
  readonly isGuess?: true;
}

/** A page, and its record that is nearest to a gap; null at an end of the list. */
export interface PageBound {
  readonly page: number;
  readonly id: string | null;
}

/** How many new records of a list were found where. */
interface NewPlaces {
  readonly head: number;
  readonly tail: number;
  readonly between: number;
}

/** A list, as the responses since its last complete sweep let it be known. */
export interface WatchedList {
  readonly kind: string;
  readonly order: ListOrder;
  readonly frame: ListFrame;
  readonly history: ChangeHistory;
  /** The weights of counted updates, by the pages of the frame. */
  readonly updatedByPage: readonly number[];
  /** When each page was read last, page 1 first. */
  readonly readMs: readonly number[];
  /** Rows by the latest response; null = the responses do not tell. */
  readonly total: number | null;
  /** When a response told the total last. */
  readonly totalMs: number;
  /** Rows that came and went since the sweep without being located: with those of the frame, they are the total. */
  readonly gaps: readonly RowGap[];
  /** Records that are suspected to be gone, with the instant. */
  readonly gone: ReadonlyMap<string, number>;
  /** When all pages last agreed with the total. */
  readonly agreedMs: number;
  /** Rows that came since the page was read where new records are expected. */
  readonly rowsMore: number;
  /** Readings since rows were last located; too many, and the search pauses. */
  readonly effort: number;
  /** Rows are searched for from this instant on, and how often the search was given up in a row. */
  readonly searchFromMs: number;
  readonly givenUp: number;
  readonly newPlaces: NewPlaces;
  readonly streaks: ChangeStreaks;
}

interface ListStart extends Pick<WatchedList, 'kind' | 'order' | 'frame' | 'history'> {
  /** When the sweep read each page, page 1 first. */
  readonly readMs: readonly number[];
  /** Whether responses tell the number of rows. */
  readonly hasTotal: boolean;
  /** Rows that the total counts and no page shows, as sweep after sweep has found; below 0, pages show more than it counts. */
  readonly neverShown?: number;
  readonly newPlaces?: NewPlaces;
  readonly streaks?: ChangeStreaks;
}

/** What a list that was not watched before has taught. */
export const NOTHING_LEARNT: Pick<WatchedList, 'newPlaces' | 'streaks'> = {
  newPlaces: { head: 0, tail: 0, between: 0 },
  streaks: new Map(),
};

/** Begins to watch a list from its last complete sweep on. */
export function watchList({ hasTotal, neverShown = 0, ...start }: ListStart): WatchedList {
  const { frame, readMs, history } = start;
  const sweptMs = Math.max(0, ...readMs);
  return {
    ...NOTHING_LEARNT,
    ...start,
    updatedByPage: updatesByPage(frame, history),
    total: hasTotal ? frame.ids.length + neverShown : null,
    ...{ totalMs: sweptMs, agreedMs: sweptMs, gaps: [], gone: new Map() },
    ...{ rowsMore: 0, effort: 0, searchFromMs: 0, givenUp: 0 },
  };
}

function updatesByPage({ places, stride }: ListFrame, { updated }: ChangeHistory): number[] {
  const counts: number[] = [];
  for (const { id, weight } of updated) {
    const place = places.get(id);
    if (place !== undefined) add(counts, Math.floor(place / stride), weight);
  }
  return counts;
}

/** Counts changes that readings or sweeps have found, before these readings are observed. */
export function countFound(list: WatchedList, found: readonly CountedChange[]): WatchedList {
  if (found.length === 0) return list;
  const streaks = countStreaks(list.streaks, found, (id) => lastReadMs(list, id));
  const counted = withoutRestless(found, streaks);
  const history = countChanges(list.history, counted);
  if (counted.length < found.length) return forgetRestless({ ...list, history, streaks });
  const { frame } = list;
  const updatedByPage = [...list.updatedByPage];
  for (const { change, id, atMs } of found) {
    const place = frame.places.get(id);
    if (change === 'updated' && place !== undefined)
      add(updatedByPage, Math.floor(place / frame.stride), weightAt(list.history, atMs));
  }
  return { ...list, history, streaks, updatedByPage };
}

/** Without the updates of records by which they were found to be restless. */
function forgetRestless({ history: all, ...list }: WatchedList): WatchedList {
  const history = { ...all, updated: all.updated.filter(({ id }) => !isRestless(list.streaks, id)) };
  return { ...list, history, updatedByPage: updatesByPage(list.frame, history) };
}

/** When the page of a record was read last; null if it has no place. */
function lastReadMs({ frame: { places, stride }, readMs }: WatchedList, id: string): number | null {
  const place = places.get(id);
  return place === undefined ? null : (readMs[Math.floor(place / stride)] ?? 0);
}

/** The pages whose last reading has found a restless record changed again, if it was later than an instant. */
export function restlessPages(list: WatchedList, sinceMs: number): ReadonlySet<number> {
  const pages = new Set<number>();
  for (const [id, { lastMs }] of list.streaks) {
    const readMs = lastReadMs(list, id);
    if (!isRestless(list.streaks, id) || readMs === null || lastMs < readMs || readMs <= sinceMs) continue;
    pages.add(1 + Math.floor((list.frame.places.get(id) ?? 0) / list.frame.stride));
  }
  return pages;
}

function add(counts: number[], index: number, weight: number): void {
  while (counts.length < index) counts.push(0);
  counts[index] = (counts[index] ?? 0) + weight;
}

/** Changes the frame by rows that were located. Counts of updates stay with their records. */
export function relocate(list: WatchedList, edit: FrameEdit): WatchedList {
  const frame = editFrame(list.frame, edit);
  return { ...list, frame, updatedByPage: updatesByPage(frame, list.history) };
}

/** Pages that the list has now. Without a total, a full page may have a successor. */
export function pageCount({ frame, total }: Pick<WatchedList, 'frame' | 'total'>): number {
  return total === null ? pagesOf(frame, frame.ids.length + 1) : pagesOf(frame, total);
}

/** The gaps in which rows are searched for: none while the search pauses. */
export function gapsOf({ gaps, totalMs, searchFromMs }: WatchedList): readonly RowGap[] {
  return totalMs < searchFromMs ? [] : gaps;
}

/** New records found elsewhere that outweigh what is documented of a list's order. */
const MOST_STRAYS = 3;

/** The page on which new records are expected; null = any. */
export function placeOfNew(list: WatchedList): number | null {
  const { order, newPlaces } = list;
  const { head, tail, between } = newPlaces;
  const pages = pageCount(list);
  const isNewestFirst = order.endsWith('newest first');
  if (order === 'code' || between > MOST_STRAYS + 2 * (head + tail)) return null;
  if (isNewestFirst) return tail > head + MOST_STRAYS ? pages : 1;
  return head > tail + MOST_STRAYS ? 1 : pages;
}

/** The ids that a page of a list has shown, in their order. */
interface FramePage {
  readonly page: number;
  readonly ids: readonly string[];
}

/**
 * The records of a list in their order, as its last complete sweep and the readings since then have shown them.
 *
 * The place of a record is its number in the list, from 0. A place without an id is a row that no page has shown: the list
 * moved while it was read.
 */
export interface ListFrame {
  /** Rows on a full page. */
  readonly stride: number;
  readonly ids: readonly (string | undefined)[];
  readonly places: ReadonlyMap<string, number>;
}

/** Rows that came and went: ids by the place before which they stand, and the places of those that left. */
export interface FrameEdit {
  readonly inserted: ReadonlyMap<number, readonly (string | undefined)[]>;
  readonly removed: ReadonlySet<number>;
}

/** Makes the frame of a list from the pages of a sweep. @param pageSize The size that `meta` has named; null = none. */
export function frameOf(pages: readonly FramePage[], pageSize: number | null): ListFrame {
  const shown = pages.filter(({ ids }) => ids.length > 0).toSorted((a, b) => a.page - b.page);
  const stride = strideOf(shown, pageSize);
  const places = new Map<string, number>(); // A record on two pages moved meanwhile: the later page counts.
  for (const { page, ids } of shown)
    for (const [index, id] of ids.entries()) places.set(id, index + (page === 1 ? 0 : (page - 1) * stride));
  const ids: (string | undefined)[] = [];
  for (const [id, place] of places) ids[place] = id;
  return { stride, ids: Array.from(ids), places };
}

/** Only where page 1 is the whole list may `meta` give a larger page than it showed. */
function strideOf(shown: readonly FramePage[], pageSize: number | null): number {
  const first = shown[0]?.ids.length ?? 0;
  if (shown.length > 1) return Math.max(1, first);
  return Math.max(1, first, pageSize ?? Number.MAX_SAFE_INTEGER);
}

/** The number of the last page of a list with so many rows; an empty list has one page. */
function pagesOf({ stride }: Pick<ListFrame, 'stride'>, rows: number): number {
  return Math.max(1, Math.ceil(rows / stride));
}

/** The records at some places. */
export const idsAt = ({ ids }: ListFrame, places: Iterable<number>): string[] =>
  [...places].flatMap((place) => ids[place] ?? []);

interface Place {
  readonly place: number;
}

/** The places between two others. */
export function placesBetween({ ids }: ListFrame, after: Place, before: Place): number[] {
  const length = Math.max(0, Math.min(before.place, ids.length) - after.place - 1);
  return Array.from({ length }, (_, index) => after.place + 1 + index);
}

function editFrame(frame: ListFrame, { inserted, removed }: FrameEdit): ListFrame {
  const { stride, ids: before } = frame;
  const cuts = [...new Set([...inserted.keys(), ...removed])].sort((a, b) => a - b);
  const parts: (readonly (string | undefined)[])[] = [];
  let from = 0;
  for (const cut of cuts) {
    parts.push(before.slice(from, cut), inserted.get(cut) ?? []);
    from = removed.has(cut) ? cut + 1 : cut;
  }
  const ids = before.slice(0, 0).concat(...parts, before.slice(from));
  const places = new Map(frame.places);
  for (const place of removed) places.delete(before[place] ?? '');
  for (let place = Math.min(cuts[0] ?? ids.length, before.length); place < ids.length; place++) {
    const id = ids[place];
    if (id !== undefined) places.set(id, place);
  }
  return { stride, ids, places };
}
