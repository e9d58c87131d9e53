import { arrivedTogether } from '../../lib/time/arrived-together.ts';
import { renewLease } from '../../mirror/kinds/kind-lease.ts';
import { bindSource } from '../../mirror/kinds/source-binding.ts';
import { readSending } from '../../mirror/outbox/outbox-queue.ts';
import { readSuppressed } from '../../mirror/records/erasure-store.ts';
import { readDirtyRows } from '../../mirror/sightings/page-store.ts';
import type { Session, Transaction } from '../../mirror/session/session.ts';
import { saveSightings } from '../../mirror/sightings/sighting-store.ts';
import type { ListResponse } from '../../source/paging/sweep.ts';
import type { PullParts } from '../run/parts.ts';
import type { DraftedSweep, Sweep } from '../state/sweep.ts';
import { landPage } from './land-page.ts';
import type { Landing } from './land-page.ts';
import type { Tally } from './tally.ts';

/** Fixed cost of landing a page, in rows. */
const PAGE_WEIGHT = 10;

/** The largest weight of a transaction: a code-sorted list changes all of the index, and every commit waits for the disk. */
export const TOGETHER = {
  most: 8 * (100 + PAGE_WEIGHT),
  weigh: ({ isKnown, rows }: ListResponse): number => PAGE_WEIGHT + (isKnown ? 0 : rows),
  lingerMs: 100,
};

interface Arriving {
  readonly sweep: Sweep;
  readonly tally: Tally;
  readonly responses: AsyncIterable<ListResponse>;
  /** Aborted if landing fails: then requests under way are not awaited. */
  readonly stop?: AbortController;
  /** Called after each transaction, and awaited, with the last response that landed. */
  readonly onLanded?: (last: ListResponse) => unknown;
}

/**
 * Lands responses as they arrive, some in one transaction, and counts them.
 *
 * @returns The last of them; null where none came.
 * @throws {LeaseError} If another owner has taken the sweep over.
 */
export async function landArriving(
  { session, clock }: Pick<PullParts, 'session' | 'clock'>,
  { sweep, tally, responses, stop, onLanded }: Arriving,
): Promise<ListResponse | null> {
  let last: ListResponse | null = null;
  for await (const batch of arrivedTogether(responses, TOGETHER)) {
    const landings = await landPages(session, sweep, { responses: batch, now: clock.now() }).catch(
      (error: unknown) => {
        stop?.abort(); // Stop before the loop ends: its end awaits the requests under way.
        throw error;
      },
    );
    for (const landing of landings) tally.add(landing);
    last = batch.at(-1) ?? last;
    if (last !== null) await onLanded?.(last);
  }
  return last;
}

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

/**
 * Runs a landing as one transaction, on a draft of the sweep's state. The draft counts only after the commit, since
 * the work may run again after a lost connection.
 *
 * @throws {LeaseError} If another owner has taken the sweep over; nothing lands.
 */
export async function inDraft<T>(
  session: Session,
  sweep: Sweep,
  { now, work }: { readonly now: Date; readonly work: (tx: Transaction, draft: DraftedSweep) => Promise<T> },
): Promise<T> {
  const { kind, lease, ticks, claim, tenants } = sweep;
  const saved = tenants.companies.size;
  const { result, state, tick } = await session.atomically(async (tx) => {
    const state = sweep.state.draft(await readSending(tx, kind.name));
    const tick = await renewLease(tx, lease, { tick: ticks.latest(), now });
    await bindSource(tx, claim, tenants);
    state.touched.add(await readDirtyRows(tx, kind.name, state.touched.latest()));
    const draft = { ...sweep, state, suppressed: await readSuppressed(tx, kind.name) };
    return { result: await work(tx, draft), state, tick };
  });
  ticks.leap(tick);
  claim.isBound = true;
  tenants.isReset = true;
  tenants.saved = saved;
  state.keep();
  return result;
}
