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

/** Gives no token for so long, as the service has asked for fewer requests. */
export function holdTokens(
  bucket: TokenBucket,
  perMinute: number,
  nowMs: number,
  waitMs: number,
): TokenBucket {
  const { tokens, atMs } = refill(bucket, perMinute, nowMs);
  return { atMs, tokens: Math.min(tokens, 0) - (waitMs / MINUTE_MS) * perMinute };
}
