import { renewLease } from '../../mirror/kinds/kind-lease.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import type { PullParts } from '../run/parts.ts';
import type { Sweep } from '../state/sweep.ts';

/**
 * Runs a transaction of a sweep, and renews its lease.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function underLease<T>(
  { session, clock }: PullParts,
  { lease, ticks }: Sweep,
  work: (tx: Transaction, now: Date) => Promise<T>,
): Promise<T> {
  const [tick, now] = [ticks.latest(), clock.now()];
  return session.atomically(async (tx) => {
    await renewLease(tx, lease, { tick, now });
    return work(tx, now);
  });
}
