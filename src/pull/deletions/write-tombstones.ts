import { renewLease } from '../../mirror/kinds/kind-lease.ts';
import { writeTombstones as buryRows } from '../../mirror/records/tombstone-store.ts';
import type { PullParts } from '../run/parts.ts';
import type { Sweep } from '../state/sweep.ts';

const ROWS_A_TRANSACTION = 500;

/** Marks the rows of records that are proven to be gone; returns their number. */
export async function writeTombstones(
  { session, clock }: PullParts,
  { kind, lease, ticks, runId }: Sweep,
  { ids, proof }: { readonly ids: readonly string[]; readonly proof: 'retrieve' | 'list' },
): Promise<number> {
  let deleted = 0;
  for (let from = 0; from < ids.length; from += ROWS_A_TRANSACTION) {
    const some = ids.slice(from, from + ROWS_A_TRANSACTION);
    const response = ticks.next();
    const now = clock.now();
    const done = await session.atomically(async (tx) => {
      await renewLease(tx, lease, { tick: response, now });
      return buryRows(tx, { kind: kind.name, ids: some, proof, response, runId, now });
    });
    deleted += done.length;
  }
  return deleted;
}
