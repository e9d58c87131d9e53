import type { RequestBudget } from './request-budget.ts';

export const MINUTE_MS = 60_000;

/** The most tokens that a budget keeps: those of ten seconds, and one at least, or nothing could ever be requested. */
export const maxTokens = (perMinute: number): number => Math.max(1, perMinute / 6);

/**
 * Adds the tokens that have come in. The clocks of processes that share a budget may be apart: one that is behind adds none, so
 * that no token is given twice; one that is more than a minute behind was corrected, and counts.
 */
export function refilledBudget(budget: RequestBudget, perMinute: number, nowMs: number): RequestBudget {
  const { tokens, atMs } = budget;
  if (nowMs < atMs) return { tokens, atMs: nowMs < atMs - MINUTE_MS ? nowMs : atMs };
  const addedTokens = ((nowMs - atMs) / MINUTE_MS) * perMinute;
  return { tokens: Math.min(maxTokens(perMinute), tokens + addedTokens), atMs: nowMs };
}

/** Takes a token; null if there is none. */
export function takeToken(budget: RequestBudget, perMinute: number, nowMs: number): RequestBudget | null {
  const { tokens, atMs } = refilledBudget(budget, perMinute, nowMs);
  return tokens < 1 ? null : { tokens: tokens - 1, atMs };
}

/** Milliseconds until there is a token. */
export function msUntilToken(budget: RequestBudget, perMinute: number, nowMs: number): number {
  const { tokens, atMs } = refilledBudget(budget, perMinute, nowMs);
  return tokens >= 1 ? 0 : Math.max(0, atMs - nowMs) + Math.ceil(((1 - tokens) / perMinute) * MINUTE_MS);
}

/** Withholds tokens for this time, because the service asked for fewer requests. */
export function pauseTokens(
  budget: RequestBudget,
  perMinute: number,
  nowMs: number,
  waitMs: number,
): RequestBudget {
  const { tokens, atMs } = refilledBudget(budget, perMinute, nowMs);
  return { atMs, tokens: Math.min(tokens, 0) - (waitMs / MINUTE_MS) * perMinute };
}
