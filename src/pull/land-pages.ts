import { renewLease } from '../mirror/kind-lease.ts';
import type { Session } from '../mirror/session.ts';
import { bindSource } from '../mirror/source-binding.ts';
import { readTouches } from '../mirror/touch-store.ts';
import type { ListResponse } from '../source/source.ts';
import { landPage } from './land-page.ts';
import type { Landing } from './land-page.ts';
import type { Sweep } from './sweep.ts';

export interface Arrivals {
  readonly responses: readonly ListResponse[];
  readonly now: Date;
}

/**
 * Lands list responses in one transaction, in their order: each of them whole, or none of them.
 *
 * @throws {LeaseError} Where another owner has taken the sweep over; nothing lands.
 */
export async function landPages(
  session: Session,
  sweep: Sweep,
  { responses, now }: Arrivals,
): Promise<readonly Landing[]> {
  const { landings, draft } = await session.atomically(async (tx) => {
    // The work may run again after a lost connection: what it learns counts once it has landed.
    const touched = sweep.touched.draft();
    const draft = {
      ...sweep,
      touched,
      fields: new Map(sweep.fields),
      quarantined: new Set(sweep.quarantined),
    };
    await renewLease(tx, sweep.lease, { tick: sweep.ticks.latest(), now });
    if (!sweep.claim.isBound) await bindSource(tx, sweep.claim);
    touched.add(await readTouches(tx, sweep.kind.name, touched.latest()));
    const landings: Landing[] = [];
    for (const response of responses) landings.push(await landPage(tx, draft, { response, now }));
    return { landings, draft };
  });
  sweep.claim.isBound = true;
  draft.touched.keep();
  for (const [field, seen] of draft.fields) sweep.fields.set(field, seen);
  for (const key of draft.quarantined) sweep.quarantined.add(key);
  return landings;
}
