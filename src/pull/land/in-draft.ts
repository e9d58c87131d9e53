import { renewLease } from '../../mirror/kinds/kind-lease.ts';
import { readSending } from '../../mirror/outbox/outbox-queue.ts';
import type { Session, Transaction } from '../../mirror/session/session.ts';
import { bindSource } from '../../mirror/kinds/source-binding.ts';
import { readDirtyRows as readTouches } from '../../mirror/sightings/page-store.ts';
import type { Sweep } from '../state/sweep.ts';

/**
 * Runs a landing as one transaction, on a draft of the sweep's state. The draft counts only after the commit, since
 * the work may run again after a lost connection.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function inDraft<T>(
  session: Session,
  sweep: Sweep,
  { now, work }: { readonly now: Date; readonly work: (tx: Transaction, draft: Sweep) => Promise<T> },
): Promise<T> {
  const saved = sweep.tenants.companies.size;
  const { result, draft, tick } = await session.atomically(async (tx) => {
    const touched = sweep.touched.draft();
    const [fields, quarantined] = [new Map(sweep.fields), sweep.quarantined.draft()];
    const sending = await readSending(tx, sweep.kind.name);
    const draft = { ...sweep, touched, fields, quarantined, sending };
    const tick = await renewLease(tx, sweep.lease, { tick: sweep.ticks.latest(), now });
    await bindSource(tx, sweep.claim, sweep.tenants);
    touched.add(await readTouches(tx, sweep.kind.name, touched.latest()));
    return { result: await work(tx, draft), draft, tick };
  });
  sweep.ticks.leap(tick);
  sweep.claim.isBound = true;
  sweep.tenants.isReset = true;
  sweep.tenants.saved = saved;
  draft.touched.keep();
  draft.quarantined.keep();
  for (const [field, seen] of draft.fields) sweep.fields.set(field, seen);
  return result;
}
