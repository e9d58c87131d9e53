import type { WorkRef as DueEntry } from '../../lib/work-queue.ts';
import { claim } from './claim.ts';
import type { Claimed } from './claim.ts';
import { ClaimLostError } from '../attempt/conclude.ts';
import { sendCreate } from '../create/create.ts';
import type { OutboundParts } from '../parts.ts';
import { settle } from '../create/settle.ts';
import { update } from '../update/update.ts';
import { watchTwins } from '../create/watch-twins.ts';

/** Claims an entry and works it to its next resting state; does nothing if it is no longer due. */
export async function workEntry(parts: OutboundParts, due: DueEntry): Promise<void> {
  const claimed = await claim(parts, due);
  if (claimed === null) return;
  try {
    await carryOut(parts, claimed);
  } catch (error) {
    if (!(error instanceof ClaimLostError)) throw error;
    parts.logger.warn({ entry: due.id }, error.message);
  }
}

async function carryOut(parts: OutboundParts, claimed: Claimed): Promise<void> {
  const { session, clock } = parts;
  const { kind } = claimed;
  if (claimed.step === 'send') return sendCreate(parts, kind, claimed.journalled);
  if (claimed.step === 'update') return update(parts, claimed);
  if (claimed.step === 'watch') return session.atomically((tx) => watchTwins(tx, parts, claimed));
  const { entry } = claimed;
  const journalled = await session.atomically((tx) => settle(tx, parts, { kind, entry, now: clock.now() }));
  if (journalled === null) return;
  await sendCreate(parts, kind, journalled);
}
