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

/** Adds the tokens that have come in. A clock that went back adds none, and counts from there. */
export function refill({ tokens, atMs }: TokenBucket, perMinute: number, nowMs: number): TokenBucket {
  const come = (Math.max(0, nowMs - atMs) / MINUTE_MS) * perMinute;
  return { tokens: Math.min(mostTokens(perMinute), tokens + come), atMs: nowMs };
}

/** Takes a token; null if there is none. */
export function takeToken(bucket: TokenBucket, perMinute: number, nowMs: number): TokenBucket | null {
  const { tokens, atMs } = refill(bucket, perMinute, nowMs);
  return tokens < 1 ? null : { tokens: tokens - 1, atMs };
}

/** Milliseconds until there is a token. */
export function untilToken(bucket: TokenBucket, perMinute: number, nowMs: number): number {
  const { tokens } = refill(bucket, perMinute, nowMs);
  return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / perMinute) * MINUTE_MS);
}
