import type { Random } from '../../src/sandbox/generate/draw.ts';

/** What becomes of a write on its way. */
export type Fate = (typeof FATES)[number];

export const FATES = [
  'delivered',
  'refused connection',
  'dropped before',
  'dropped after',
  'late',
  '500 before',
  '500 after',
  '429',
  '503 before',
  '503 after',
  'page of a proxy',
  '422 before',
  '422 after',
  'web page 404',
  'page to sign in',
  'cut body',
  'no id',
  'says failed',
  'ignores a field',
  'redirect after',
] as const;

/** These leave nobody the wiser, whatever the service did. */
const AMBIGUOUS: ReadonlySet<Fate> = new Set([
  ...(['dropped before', 'dropped after', 'late', '500 before', '500 after', 'web page 404'] as const),
  ...(['page to sign in', 'cut body', 'no id', 'says failed', 'redirect after'] as const),
  ...(['503 before', '503 after', 'page of a proxy'] as const),
]);

/** The service does what it was asked for, at once. */
const DONE: ReadonlySet<Fate> = new Set([
  ...(['delivered', 'dropped after', '500 after', '422 after', 'cut body', 'no id'] as const),
  ...(['ignores a field', 'redirect after', '503 after', 'page of a proxy'] as const),
]);

export const isAmbiguous = (fate: Fate): boolean => AMBIGUOUS.has(fate);
export const isRefusal = (fate: Fate): boolean => fate === '422 before' || fate === '422 after';

/** All that can go wrong with a write. */
export const FAULTS: readonly Fate[] = FATES.slice(1);

/** A share of the writes meets a fault, each of these as often as every other. */
export function drawFate(random: Random, share: number, faults: readonly Fate[]): Fate {
  return random.chance(share) ? random.pick(faults) : 'delivered';
}

const MINUTE = 60_000;

/** When the service does it, in milliseconds after the answer was given up; null = at once, undefined = never. */
export function committedAfter(
  fate: Fate,
  { random, latestMs }: { readonly random: Random; readonly latestMs: number },
): number | null | undefined {
  if (DONE.has(fate)) return null;
  if (fate === 'says failed') return random.chance(0.5) ? null : undefined;
  if (fate !== 'late') return undefined;
  return random.chance(0.7) ? random.integer(20_000, 10 * MINUTE) : random.integer(10 * MINUTE, latestMs);
}
