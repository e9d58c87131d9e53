import { ratesOf } from './change-rates.ts';
import type { ChangeRates } from './change-rates.ts';
import type { PageRange } from '../../source/paging/sweep-plan.ts';
import { gapsOf, pageCount, placeOfNew, restlessPages } from './watched-list.ts';
import type { WatchedList } from './watched-list.ts';

/** A list, and what else decides about reading it. */
export interface ReadableList {
  readonly list: WatchedList;
  /** No sweep reads it, and none is about to. */
  readonly isFree: boolean;
  /** A create of ours waits to be found in it. */
  readonly isAwaited: boolean;
  /** Milliseconds between whole sweeps, and when the next one is due; null = none is scheduled. */
  readonly sweeps: { readonly everyMs: number; readonly nextMs: number } | null;
  /** When a sweep was last asked for before its time. */
  readonly askedMs: number | null;
}

/** The next page to read. */
export interface NextRead {
  readonly kind: string;
  readonly page: number;
  readonly why: ReadReason;
}

/** The purpose of a reading: rows that came or went, new rows, or pages that may have changed. */
export type ReadReason = 'locate' | 'probe' | 'refresh';

interface Candidate {
  readonly worth: number;
  readonly page: number;
  readonly why: ReadReason;
}

/** The worth of seeing a new record, and a record that is gone, where an update is worth 1. */
const WORTH = { created: 55, deleted: 1, searched: 10 };
/** A list is taken to get this share of the new records of the mean list too: none is thought to get nothing. */
const SHARED = 0.12;
/** How much more a list is worth in which a create of ours is awaited. */
const AWAITED = 50;
/** How much more a page is worth that is read less often than whole sweeps come. */
const OVERDUE = 10;
const [MINUTE_MS, LONGEST_HORIZON_MINUTES] = [60_000, 60];
const HORIZON_WITHOUT_SWEEPS_MS = 3_600_000;
/** Rows that went are searched for more and more for so long: meanwhile other readings narrow the place down. */
const LONGEST_WAIT_MINUTES = 2;
/** A page with a restless record is read so many times less one between two sweeps. */
const READINGS_OF_RESTLESS = 3;
/** From this age on, new records become urgent; where no page tells of the others, from three times that age on. */
const SOON_MS = 55_000;
/** From so many times that age on, they become no more urgent: a budget that is too small for them also keeps up the rest. */
const MOST_URGENT = 2;

/**
 * Chooses the next page to read: the one that is worth most.
 *
 * A page that changes at a rate r and was read a ago is worth r·a²/2: where the best is always read, intervals are
 * proportional to 1/√r, the policy that keeps changes unseen for the shortest time (Cho & Garcia-Molina 2003). New and gone
 * records are weighed likewise, by the time since the list last told its rows. A page's worth grows until it is read, so
 * that no list waits for ever. Only a page with a restless record rests: each of its readings would be another event.
 *
 * @returns Null if no page may be read.
 */
export function chooseRead(lists: readonly ReadableList[], nowMs: number): NextRead | null {
  let best: Valued | null = null;
  const estimates = new Map(lists.map(({ list }) => [list, ratesOf(list, pageCount(list), nowMs)]));
  const meanCreated = [...estimates.values()].reduce((sum, { created }) => sum + created, 0) / lists.length;
  for (const readable of lists.filter(({ isFree }) => isFree)) {
    const rates = estimates.get(readable.list);
    if (rates === undefined) continue;
    const shared = { ...rates, created: rates.created + SHARED * meanCreated };
    const candidate = bestOf(readable, shared, nowMs);
    if (candidate === null) continue;
    const { page, why } = candidate;
    const worth = readable.isAwaited ? candidate.worth * AWAITED : candidate.worth;
    if (best === null || worth > best.worth) best = { worth, read: { kind: readable.list.kind, page, why } };
  }
  return best?.read ?? null;
}

interface Valued {
  readonly worth: number;
  readonly read: NextRead;
}

function bestOf(readable: ReadableList, rates: ChangeRates, nowMs: number): Candidate | null {
  const { list, sweeps } = readable;
  const restMs = (sweeps?.everyMs ?? HORIZON_WITHOUT_SWEEPS_MS) / READINGS_OF_RESTLESS;
  const page = pageWorth(readable, rates, nowMs);
  const weighing = { pages: pageCount(list), page, nowMs, resting: restlessPages(list, nowMs - restMs) };
  return [...bestPage(list, weighing), ...locating(readable, weighing)].reduce<Candidate | null>(
    (one, other) => (one === null || other.worth > one.worth ? other : one),
    null,
  );
}

interface PageWorth {
  /** The worth of reading a page for its own changes. */
  readonly changes: (page: number) => number;
  /** The worth of learning of rows that came or went since an instant. */
  readonly news: (sinceMs: number) => number;
  /** The same for rows that came only. */
  readonly created: (sinceMs: number, soonMs?: number) => number;
}

function pageWorth({ list, sweeps }: ReadableList, rates: ChangeRates, nowMs: number): PageWorth {
  const { readMs } = list;
  const square = (sinceMs: number): number => (Math.max(0, nowMs - sinceMs) / MINUTE_MS) ** 2 / 2;
  const urgency = (sinceMs: number, soonMs: number): number =>
    1 + Math.min(MOST_URGENT, Math.max(0, nowMs - sinceMs) / soonMs) ** 3;
  const created = (sinceMs: number, soonMs = SOON_MS): number =>
    WORTH.created * rates.created * square(sinceMs) * urgency(sinceMs, soonMs);
  return {
    changes: (page) => {
      const since = readMs[page - 1] ?? 0;
      const isOverdue = sweeps !== null && nowMs - since > sweeps.everyMs;
      return rates.ofPage(page) * square(since) * (isOverdue ? OVERDUE : 1);
    },
    created,
    news: (since) => created(since) + WORTH.deleted * rates.deleted * square(since),
  };
}

interface Weighing {
  readonly pages: number;
  readonly page: PageWorth;
  readonly nowMs: number;
  /** Pages that are not read now. */
  readonly resting: ReadonlySet<number>;
}

/** The page whose own changes, and what it tells of the rest of the list, are worth most. */
function bestPage(list: WatchedList, weighing: Weighing): Candidate[] {
  const { pages, page, resting } = weighing;
  const tells = list.total === null ? tellsOfItself(list, weighing) : tellsOfTotal(list, weighing);
  let best: Candidate | null = null;
  for (let number = 1; number <= pages; number++) {
    if (resting.has(number)) continue;
    const [own, told] = [page.changes(number), tells(number)];
    if (best === null || own + told > best.worth)
      best = { worth: own + told, page: number, why: told > own ? 'probe' : 'refresh' };
  }
  return best === null ? [] : [best];
}

/**
 * Without a total no page tells of the others. New rows are looked for on the page where they were found so far, the more
 * the surer that is; all else takes all pages in turn.
 */
function tellsOfItself(list: WatchedList, { pages, page }: Weighing): (number: number) => number {
  const place = placeOfNew(list);
  const trust = place === null || pages === 1 ? 1 / pages : trustIn(list, place);
  return (number) => {
    const since = list.readMs[number - 1] ?? 0;
    const gone = (page.news(since) - page.created(since)) / pages;
    if (number === place || pages === 1) return gone + page.created(since) * trust;
    return gone + (page.created(since, place === null ? 3 * SOON_MS : Infinity) * (1 - trust)) / (pages - 1);
  };
}

/** The share of new rows that is expected on a page at an end of the list, by its order and where they were found so far. */
function trustIn({ order, newPlaces }: WatchedList, place: number): number {
  const { head, tail, between } = newPlaces;
  const documented = order.startsWith('created') ? 4 : 1;
  return ((place === 1 ? head : tail) + documented) / (head + tail + between + documented + 1);
}

function tellsOfTotal(list: WatchedList, { pages, page, nowMs }: Weighing): (number: number) => number {
  const place = placeOfNew(list);
  const [news, created] = [page.news(list.totalMs), page.created(list.totalMs)];
  const gone = (news - created) / (1 + Math.log2(pages));
  const apart = place === null ? distances(list, pages, nowMs) : null;
  return (number) => gone + created * (number === place ? 1 : (1 + (apart?.[number - 1] ?? 0)) / 2);
}

const RECENT_MS = 600_000;

/**
 * How far each page is from one that was read of late, as a share of the list. One record that came and one that went leave
 * the total as it is, and show only between them.
 */
function distances({ readMs }: WatchedList, pages: number, nowMs: number): readonly number[] {
  const apart = Array<number>(pages).fill(0);
  const walk = (from: number, step: number): void => {
    let far = 0;
    for (let index = from; index >= 0 && index < pages; index += step) {
      far = nowMs - (readMs[index] ?? 0) < RECENT_MS ? 0 : far + 1;
      apart[index] = step > 0 ? far : Math.min(far, apart[index] ?? far);
    }
  };
  walk(0, 1);
  walk(pages - 1, -1);
  return apart.map((far) => far / pages);
}

/** The readings that come closest to rows that came or went. */
function locating({ list, sweeps }: ReadableList, { pages, page, nowMs, resting }: Weighing): Candidate[] {
  const next = sweeps?.nextMs ?? nowMs + HORIZON_WITHOUT_SWEEPS_MS;
  const horizon = Math.min(LONGEST_HORIZON_MINUTES, Math.max(0, next - nowMs) / MINUTE_MS);
  const waited = Math.min(LONGEST_WAIT_MINUTES, Math.max(0, nowMs - list.agreedMs) / MINUTE_MS);
  const place = placeOfNew(list);
  const searching = gapsOf(list).flatMap((gap): Candidate[] => {
    const range = { from: gap.after.page + 1, to: Math.min(gap.before.page - 1, pages) };
    if (range.from > range.to) return []; // No page lies between.
    const at = searchIn(range, page, resting);
    if (at === null) return [];
    const requests = 1 + Math.log2(range.to - range.from + 1);
    const hasCome = gap.by > 0 && !list.order.startsWith('created');
    const worth = hasCome ? WORTH.created * horizon : (WORTH.searched * waited ** 2) / 2;
    return [{ worth: worth / requests + page.changes(at), page: at, why: 'locate' }];
  });
  if (place === null || list.rowsMore === 0 || resting.has(place)) return searching;
  return [...searching, { worth: WORTH.created * horizon, page: place, why: 'locate' }];
}

/** Where to look in a gap: in the middle of it, on the page that is worth most by itself; null if all pages there rest. */
function searchIn({ from, to }: PageRange, page: PageWorth, resting: ReadonlySet<number>): number | null {
  const third = Math.floor((to - from) / 3);
  const middle = Math.floor((from + to) / 2);
  let best = resting.has(middle) ? null : middle;
  for (let at = from + third; at <= to - third; at++)
    if (!resting.has(at) && (best === null || page.changes(at) > page.changes(best))) best = at;
  return best;
}
