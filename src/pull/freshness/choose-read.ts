import { ratesOf } from './change-rates.ts';
import type { ChangeHistory, ChangeRates } from './change-rates.ts';
import { pageCount, pageOfNew } from './watched-list.ts';
import type { WatchedList } from './watched-list.ts';

/** A list, and what else decides about reading it. */
export interface ReadableList {
  readonly list: WatchedList;
  readonly history: ChangeHistory;
  /** No sweep reads it, and none is about to. */
  readonly isFree: boolean;
  /** A create of ours waits to be found in it. */
  readonly isAwaited: boolean;
  /** When a schedule reads the whole list next; null = never. */
  readonly nextSweepMs: number | null;
}

/** The next page to read. */
export interface NextRead {
  readonly kind: string;
  readonly page: number;
  /** The purpose: rows that came or went are searched for, or pages that may have changed are looked at. */
  readonly why: 'search' | 'look';
}

const MINUTE_MS = 60_000;
/** Rows that went may hide in a total those that came: the page of new records is also looked at by itself, so much. */
const HIDDEN = 0.1;
/** A change that is not seen is taken to wait no longer than this for the next sweep. */
const HORIZON_MS = 3_600_000;

/**
 * Chooses the next page to read; null if none may be read.
 *
 * A page that changes at a rate r and was read a ago is worth r·a²: where the best is always read, intervals are proportional
 * to 1/√r, which keeps changes unseen for the shortest time (Cho & Garcia-Molina 2003). Shortly before a sweep it is worth
 * less, since that would show the same. New records are weighed likewise, by the time since the list last told of them. Rates are
 * shares of all updates, and of all new records: seeing either sooner is worth the same.
 */
export function chooseRead(lists: readonly ReadableList[], nowMs: number): NextRead | null {
  const rates = ratesOf(lists, nowMs);
  const all = { created: 0, updated: 0 };
  for (const { created, ofPages } of rates.values()) {
    all.created += created;
    for (const rate of ofPages) all.updated += rate;
  }
  let best: (NextRead & { readonly worth: number }) | null = null;
  for (const readable of lists) {
    const ofList = rates.get(readable.list.kind);
    if (!readable.isFree || ofList === undefined) continue;
    for (const candidate of candidatesOf(readable, ofList, all, nowMs))
      if (best === null || candidate.worth > best.worth) best = candidate;
  }
  return best === null ? null : { kind: best.kind, page: best.page, why: best.why };
}

/** @param all The rates of all lists together. */
function candidatesOf(
  readable: ReadableList,
  rates: ChangeRates,
  all: { readonly created: number; readonly updated: number },
  nowMs: number,
) {
  const { list, isAwaited, nextSweepMs } = readable;
  const { kind } = list;
  const horizon = Math.min(HORIZON_MS, Math.max(0, (nextSweepMs ?? Infinity) - nowMs)) / MINUTE_MS;
  const share = isAwaited ? 1 : rates.created / all.created;
  const sooner = (sinceMs: number): number => {
    const age = (nowMs - sinceMs) / MINUTE_MS;
    return age * Math.min(age, horizon);
  };
  const news = (sinceMs: number): number => share * sooner(sinceMs);
  const known = (rows: number): number => (rows * horizon) / all.created;
  const changes = (page: number): number =>
    ((rates.ofPages[page - 1] ?? 0) / all.updated) * sooner(list.readMs.get(page) ?? 0);
  const place = pageOfNew(list);
  const tells = tellsOf(list, place, news);
  const candidate = (why: NextRead['why'], page: number, worth: number) => ({ kind, page, why, worth });
  const candidates = rates.ofPages.map((_, index) =>
    candidate('look', index + 1, changes(index + 1) + tells(index + 1)),
  );
  const { gap, risen } = list;
  if (gap !== null) {
    const page = Math.floor((gap.after + gap.before) / 2);
    const requests = 1 + Math.log2(gap.before - gap.after);
    candidates.push(candidate('search', page, known(Math.max(1, risen)) / requests + changes(page)));
  } else if (place !== null && risen > 0) candidates.push(candidate('search', place, known(risen)));
  return candidates;
}

/** What a page is worth for the new records that it tells of: those of its list, by a total, or those that it shows. */
function tellsOf(
  list: WatchedList,
  place: number | null,
  news: (sinceMs: number) => number,
): (page: number) => number {
  const own = (page: number): number => news(list.readMs.get(page) ?? 0);
  if (list.total !== null) {
    const told = news(list.totalMs);
    return (page) => told + (page === place ? HIDDEN * own(page) : 0);
  }
  if (place !== null) return (page) => (page === place ? own(page) : 0);
  const pages = pageCount(list);
  return (page) => own(page) / pages;
}
