const FIRST_MS = 5_000;
const LONGEST_MS = 600_000;

/** How long to wait before the next try: half of a bound that doubles with every attempt, and a random part of the rest. */
export function backOffMs(attempts: number, random: () => number): number {
  const bound = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts, 20));
  return Math.round(bound / 2 + (random() * bound) / 2);
}
