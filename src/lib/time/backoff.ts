interface Backoff {
  /** The longest wait after the first attempt. It doubles with every further one, up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** The share of a wait that is certain; the rest is random. */
  readonly fixedShare: number;
}

/**
 * Returns how long to wait after a failed attempt, where nobody asks for a wait.
 *
 * @param attempt The first one is 1.
 * @param random From 0 up to 1.
 */
export function backoffMs({ firstMs, mostMs, fixedShare }: Backoff, attempt: number, random: () => number) {
  const bound = Math.min(mostMs, firstMs * 2 ** (attempt - 1));
  return jitterMs(bound * fixedShare, bound, random());
}

/** Spreads waits between two bounds: those that failed together do not all ask again at the same moment. */
export function jitterMs(leastMs: number, mostMs: number, random: number): number {
  return Math.round(leastMs + (mostMs - leastMs) * random);
}
