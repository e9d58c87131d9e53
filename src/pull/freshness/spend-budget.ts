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
