import { formatInstant } from '../../lib/time/clock.ts';
import { closeAttempt, readAttempts } from '../../store/outbox/attempts-and-links.ts';
import { changeEntry, findEntry, type Entry, type EntryPatch } from '../../store/outbox/outbox-store.ts';
import { ownedEntries } from '../../store/outbox/outbox-queue.ts';
import type { Transaction } from '../../db/session/session.ts';
import type { OutboundParts } from '../parts.ts';
import { unsettledNow } from './create.ts';

/**
 * Takes entries back from owners that are gone: a send that is open in the journal may have arrived.
 * @param isGone Whether the process with this owner name has ended.
 */
export async function recoverEntries(parts: OutboundParts, isGone: (entry: Entry, owner: string) => boolean) {
  for (const lost of await ownedEntries(parts.session))
    if (lost.owner !== null && isGone(lost, lost.owner))
      await parts.session.atomically((tx) => recoverEntry(tx, parts, lost.id, lost.epoch));
}

/** Puts one entry into the state that its journal proves. */
async function recoverEntry(tx: Transaction, parts: OutboundParts, id: number, epoch: number): Promise<void> {
  const entry = await findEntry(tx, id);
  if (entry?.epoch !== epoch) return; // A slow owner has continued.
  const now = parts.clock.now();
  const last = (await readAttempts(tx, id)).at(-1);
  const isOpen = last !== undefined && last.closedAt === null;
  const patch = { ...recoveredState(parts, entry, isOpen), owner: null };
  await changeEntry(tx, { id, epoch, patch, now, raises: true });
  if (!isOpen) return;
  const unknownOutcome = { grade: 'ambiguous', status: null, responseStart: null };
  await closeAttempt(tx, { outboxId: id, n: last.n, ...unknownOutcome, now });
}

function recoveredState(parts: OutboundParts, entry: Entry, isOpen: boolean): EntryPatch {
  if (entry.state !== 'sending') return {};
  if (entry.operation === 'create') return unsettledNow(parts, {});
  const nextAttemptAt = formatInstant(parts.clock.now());
  return { state: 'ready', nextAttemptAt, ...(isOpen && { verdict: 'no_answer' }) };
}
