import { renewLease } from '../mirror/kind-lease.ts';
import type { Session } from '../mirror/session.ts';
import type { ListResponse } from '../source/source.ts';
import { landPage } from './land-page.ts';
import type { Landing, Sweep } from './land-page.ts';

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
  const tick = Math.max(...responses.map(({ answered }) => answered));
  return session.atomically(async (tx) => {
    await renewLease(tx, sweep.lease, { tick, now });
    const landings: Landing[] = [];
    for (const response of responses) landings.push(await landPage(tx, sweep, { response, now }));
    return landings;
  });
}
