import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Session, Transaction } from '../session/session.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import { selectOne } from '../tables/rows.ts';
import { isBusy, leaseEnd, standingOf } from './kind-lease.ts';
import type { KindLease, LeaseClaim } from './kind-lease.ts';

/** The lease of a kind for a reading between sweeps. */
export interface YieldingLease extends KindLease {
  /** The rules by which the kind's columns are filled. */
  readonly decodedAs: string | null;
}

/**
 * Takes the lease of a kind for a reading between sweeps: the kind's standing stays as it is, and a sweep may take the lease
 * over at once, whereupon nothing of the reading lands.
 *
 * @returns Null if the kind is being read, or has no baseline.
 */
export async function claimYielding(
  session: Session,
  { kind, owner, now, isDead }: LeaseClaim,
): Promise<YieldingLease | null> {
  return session.atomically(async (tx) => {
    const held = await selectOne(tx, KIND_STATE, sql`where kind = ${kind}`);
    if (held === null || held.baselineAt === null || held.state === 'running') return null;
    const isOwn = held.owner === owner && held.leaseYields !== null; // It could not be given back.
    if (!isOwn && isBusy(held, { now, isDead })) return null;
    const epoch = held.epoch + 1;
    await tx.query(sql`
      update kind_state set owner = ${owner}, epoch = ${epoch}, lease_until = ${leaseEnd(now)}, lease_yields = 1
      where kind = ${kind}`);
    return { ...standingOf(held), kind, owner, epoch, decodedAs: held.decodedAs };
  });
}

/** Gives the lease back; does nothing if a sweep has taken it over. */
export async function releaseYielding(
  tx: Transaction,
  { kind, owner, epoch }: KindLease,
  { hasChanges, now }: { readonly hasChanges: boolean; readonly now: Date },
): Promise<void> {
  await tx.query(sql`
    update kind_state set owner = null, lease_until = null, lease_yields = null,
      last_change_at = case when ${hasChanges ? 1 : 0} = 1 then ${instantText(now)} else last_change_at end
    where kind = ${kind} and owner = ${owner} and epoch = ${epoch} and lease_yields = 1`);
}
