import { instantOf } from '../../lib/clock.ts';
import type { KindStanding } from '../../mirror/kinds/kind-standing.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';

/**
 * Whether the mirror knows well enough what is there before a create: then whatever it first sees later may be ours.
 *
 * A list that is known to certify must have done so of late; where it no longer does, a whole sweep that ended after the
 * entry was stored is as much as can be had.
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
