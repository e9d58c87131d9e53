import type { ReadableList } from './choose-read.ts';
import { gapsOf, pageCount } from './watched-list.ts';
import type { WatchedList } from './watched-list.ts';

/** A list to be swept before its time, at the cost of so many requests. */
export interface NextSweep {
  readonly kind: string;
  readonly pages: number;
}

interface Spending {
  /** Requests in a minute. */
  readonly perMinute: number;
  readonly nowMs: number;
}

/** A sweep that is worth its requests anyway costs no more than come in this part of a minute. */
const CHEAP_MINUTES = 0.25;
/** The most that a sweep may cost: meanwhile nothing else is read. */
const MOST_MINUTES = 5;
const [MINUTE_MS, BETWEEN_SWEEPS_MS, SOON_MS] = [60_000, 900_000, 300_000];

/**
 * The list whose next sweep should be brought forward; null = none.
 *
 * A cheap sweep settles what is suspected. A dear one is worth it only where rows came and went in so many places that
 * searching for them costs more, and if the budget pays for it before the next sweep is due anyway.
 */
export function chooseSweep(lists: readonly ReadableList[], spending: Spending): NextSweep | null {
  const wanted = lists.find(
    (readable) => mayBeSwept(readable, spending.nowMs) && isWorthIt(readable, spending),
  );
  return wanted === undefined ? null : { kind: wanted.list.kind, pages: pageCount(wanted.list) };
}

/** Where no sweep is scheduled, there is none to bring forward. */
function mayBeSwept({ isFree, sweeps, askedMs }: ReadableList, nowMs: number): boolean {
  const isFarOff = sweeps !== null && sweeps.nextMs - nowMs >= SOON_MS;
  const wasAsked = askedMs !== null && nowMs - askedMs < BETWEEN_SWEEPS_MS;
  return isFree && isFarOff && !wasAsked;
}

function isWorthIt({ list, sweeps }: ReadableList, { perMinute, nowMs }: Spending): boolean {
  const pages = pageCount(list);
  const isUnsettled = list.givenUp > 0 || list.gone.size > 0;
  if (isUnsettled && pages <= CHEAP_MINUTES * perMinute) return true;
  const minutes = ((sweeps?.nextMs ?? Infinity) - nowMs) / MINUTE_MS;
  return searchingCosts(list) > pages && pages <= Math.min(MOST_MINUTES, minutes) * perMinute;
}

/** The requests that locate all rows that came and went: about the logarithm of the pages for each. */
function searchingCosts(list: WatchedList): number {
  const end = pageCount(list) + 1;
  return gapsOf(list).reduce((sum, { by, after, before }) => {
    const width = Math.max(1, Math.min(before.page, end) - after.page);
    return sum + Math.abs(by) * (1 + Math.log2(width));
  }, 0);
}
