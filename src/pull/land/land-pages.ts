import type { Session } from '../../mirror/session/session.ts';
import { saveSightings } from '../../mirror/sightings/sighting-store.ts';
import type { ListResponse } from '../../source/source.ts';
import { inDraft } from './in-draft.ts';
import { landPage } from './land-page.ts';
import type { Landing } from './land-page.ts';
import type { Sweep } from '../state/sweep.ts';

/** Fixed cost of landing a page, in rows. */
const PAGE_WEIGHT = 10;

/** The largest weight of a transaction: a code-sorted list changes all of the index, and every commit waits for the disk. */
export const TOGETHER = {
  most: 8 * (100 + PAGE_WEIGHT),
  weigh: ({ isKnown, partial, rows }: ListResponse): number =>
    PAGE_WEIGHT + (isKnown ? 0 : (partial?.changed.length ?? rows)),
  lingerMs: 100,
};

interface Arrivals {
  readonly responses: readonly ListResponse[];
  readonly now: Date;
}

/**
 * Lands list responses in one transaction, in their order: all of them or none.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function landPages(
  session: Session,
  sweep: Sweep,
  { responses, now }: Arrivals,
): Promise<readonly Landing[]> {
  return inDraft(session, sweep, {
    now,
    work: async (tx, draft) => {
      const landings: Landing[] = [];
      for (const response of responses) landings.push(await landPage(tx, draft, { response, now }));
      await saveSightings(
        tx,
        landings.map(({ sighting }) => sighting),
      );
      return landings;
    },
  });
}
