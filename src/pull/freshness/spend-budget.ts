import type { ReadableList } from './choose-read.ts';
import { gapsOf, pageCount } from './watched-list.ts';
import type { WatchedList } from './watched-list.ts';

/** Requests that may be made: tokens come in evenly, and a few are kept. Below 0, requests were made on credit. */
export interface TokenBucket {
  readonly tokens: number;
  readonly atMs: number;
}

const MINUTE_MS = 60_000;
/** The share of a minute's tokens that is kept: the most that may be requested at once. */
const KEPT_SHARE = 1 / 6;

/** The most tokens that a bucket keeps: one at least, or nothing could ever be requested. */
export function mostTokens(perMinute: number): number {
  return Math.max(1, perMinute * KEPT_SHARE);
}

/** The clocks of processes that share a bucket may differ by this much: counting from the later one gives no token twice. */
const APART_MS = 60_000;

/** Adds the tokens that have come in. A clock that is behind adds none; one that is far behind was corrected, and counts. */
export function refill({ tokens, atMs }: TokenBucket, perMinute: number, nowMs: number): TokenBucket {
  if (nowMs < atMs) return { tokens, atMs: nowMs < atMs - APART_MS ? nowMs : atMs };
  const come = ((nowMs - atMs) / MINUTE_MS) * perMinute;
  return { tokens: Math.min(mostTokens(perMinute), tokens + come), atMs: nowMs };
}

/** Takes a token; null if there is none. */
export function takeToken(bucket: TokenBucket, perMinute: number, nowMs: number): TokenBucket | null {
  const { tokens, atMs } = refill(bucket, perMinute, nowMs);
  return tokens < 1 ? null : { tokens: tokens - 1, atMs };
}

/** Milliseconds until there is a token. */
export function untilToken(bucket: TokenBucket, perMinute: number, nowMs: number): number {
  const { tokens, atMs } = refill(bucket, perMinute, nowMs);
  return tokens >= 1 ? 0 : Math.max(0, atMs - nowMs) + Math.ceil(((1 - tokens) / perMinute) * MINUTE_MS);
}

/** A bucket that fills more slowly for a while after the service has asked for fewer requests. */
export interface Throttled extends TokenBucket {
  /** How often the rate was halved, and when last; null = never. */
  readonly timesHalved: number;
  readonly halvedMs: number | null;
}

/** A halving is taken back after this time without another one. */
const CALM_MS = 600_000;
const MOST_HALVED = 6;

const timesHalvedAt = ({ timesHalved, halvedMs }: Throttled, nowMs: number): number =>
  halvedMs === null ? 0 : Math.max(0, timesHalved - Math.floor(Math.max(0, nowMs - halvedMs) / CALM_MS));

/** The requests in a minute that are allowed now. */
export const rateAt = (bucket: Throttled, perMinute: number, nowMs: number): number =>
  perMinute / 2 ** timesHalvedAt(bucket, nowMs);

interface Refusal {
  readonly perMinute: number;
  readonly nowMs: number;
  /** How long the service asked us to wait; null = it did not say. */
  readonly waitMs: number | null;
}

/** Halves the rate after a refusal, and gives no token before the time that the service named; from then on it counts as calm. */
export function slowDown(bucket: Throttled, { perMinute, nowMs, waitMs }: Refusal): Throttled {
  const timesHalved = Math.min(MOST_HALVED, timesHalvedAt(bucket, nowMs) + 1);
  const slower = { ...bucket, timesHalved, halvedMs: nowMs + (waitMs ?? 0) };
  const { tokens, atMs } = refill(bucket, rateAt(bucket, perMinute, nowMs), nowMs);
  const owed = ((waitMs ?? 0) / MINUTE_MS) * rateAt(slower, perMinute, nowMs);
  return { ...slower, atMs, tokens: Math.min(tokens, 0) - owed };
}

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
const [BETWEEN_SWEEPS_MS, SOON_MS] = [900_000, 300_000];

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
