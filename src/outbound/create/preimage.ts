import { instantOf } from '../../lib/clock.ts';
import type { KindStanding } from '../../mirror/kinds/kind-standing.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';

/**
 * Whether the mirror knows the records before a create well enough: then a record first seen later may be ours.
 *
 * If the list certifies, require a recent certificate. If it has stopped certifying, accept a complete sweep that
 * ended after the entry was stored.
 */
export function isFresh(
  { certifiedAt, lastSweepAt }: KindStanding,
  { verdict, createdAt }: Entry,
  { now, maxAgeSeconds }: { readonly now: Date; readonly maxAgeSeconds: number },
): boolean {
  const isYoung = (at: string | null): boolean =>
    at !== null && now.getTime() - instantOf(at).getTime() <= maxAgeSeconds * 1000;
  if (isYoung(certifiedAt)) return true;
  if (!isYoung(lastSweepAt) || lastSweepAt === null) return false;
  return certifiedAt === null || (verdict === 'awaits_sweep' && lastSweepAt > createdAt);
}
