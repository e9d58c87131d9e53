import type { ListOrder } from '../../catalog/kind.ts';
import { countChanges, weightAt } from './change-rates.ts';
import type { ChangeHistory, CountedChange } from './change-rates.ts';
import { editFrame, pagesOf } from './list-frame.ts';
import type { FrameEdit, ListFrame } from './list-frame.ts';
import { countStreaks, isRestless, withoutRestless } from './restless-records.ts';
import type { ChangeStreaks } from './restless-records.ts';

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
