import { sql } from 'drizzle-orm';
import type { Logger } from '../lib/log/logger.ts';
import { readMeta, writeMeta, deleteMeta } from '../store/kinds/meta.ts';
import { findHighestUnknownLink, skipEntryIds } from '../store/outbox/attempts-and-links.ts';
import { probeBlocks } from '../store/outbox/outbox-queue.ts';
import { RESUME, freeze, readFrozen, type Frozen } from '../store/outbox/freeze-store.ts';
import { frozenNotification, addNotification } from '../store/webhooks/notifications.ts';
import { databaseIdentity } from '../db/session/database-info.ts';
import type { Session, Transaction } from '../db/session/session.ts';
import { hasRow } from '../db/rows/rows.ts';

/** The number of sends, kept beside the database, so that a restored back-up is detected. */
export interface SendCounter {
  /** 0 if there is no mark yet, null if it cannot be read now. */
  readonly read: () => Promise<number | null>;
  readonly write: (sends: number) => Promise<void>;
}

/** A mark that can be closed. */
export interface OpenSendCounter extends SendCounter {
  readonly close: () => void;
}

/** Counts a send within the transaction that journals it; returns the number of sends so far. */
export async function countSend(tx: Transaction): Promise<number> {
  const sends = (await readSendCount(tx)) + 1;
  await writeMeta(tx, 'outbox.sends', String(sends));
  return sends;
}

const readSendCount = async (tx: Transaction): Promise<number> =>
  Number((await readMeta(tx, 'outbox.sends')) ?? 0);

/** The database whose sends are counted: the one that has sent so far, also where this one is its copy. */
export async function readCountedPlace(session: Session): Promise<string> {
  return (await readMeta(session, 'outbox.place')) ?? databaseIdentity(session);
}

/**
 * Freezes all sends if the database is older than the sends made from it, or a copy of the one that made them: a restored
 * back-up has forgotten sends and would repeat them, and a copy would send what the other one sends.
 */
export async function freezeIfRestored(
  session: Session,
  sendCounter: SendCounter,
  now: Date,
  logger: Logger,
): Promise<void> {
  const counterSends = await sendCounter.read();
  if (counterSends === null)
    logger.warn('cannot check whether a back-up was restored: the counter of the last send is unreadable');
  const place = await databaseIdentity(session);
  const reason = await session.atomically(async (tx) => {
    if ((await readFrozen(tx)) !== null) return null;
    const found = await reasonToFreeze(tx, counterSends, place);
    if (found === null) await writeMeta(tx, 'outbox.place', place);
    else {
      await freeze(tx, found, now);
      await addNotification(tx, frozenNotification(found, now));
    }
    return found;
  });
  if (reason !== null) logger.error({ reason, hint: RESUME }, 'sends are paused until a user resumes them');
}

async function reasonToFreeze(
  tx: Transaction,
  counterSends: number | null,
  place: string,
): Promise<string | null> {
  const databaseSends = await readSendCount(tx);
  if (counterSends !== null && counterSends > databaseSends)
    return `${counterSends} sends were made from here, and this database knows of ${databaseSends}`;
  const known = await readMeta(tx, 'outbox.place');
  const isCopy = known !== null && known !== place;
  // A copy without an entry has nothing that the other database could have sent.
  if (isCopy && (await hasRow(tx, sql`select 1 from outbox limit 1`)))
    return 'this database is a copy of another one, which may have sent its entries';
  const highest = await findHighestUnknownLink(tx);
  const accepted = await readMeta(tx, 'outbox.accepted_links');
  if (highest === null || highest <= Number(accepted ?? 0)) return null;
  return 'the mirror has creates that are not in its outbox';
}

/**
 * Resumes sends after a person has examined the cause of the freeze.
 *
 * @param marked The sends counted by the mark beside the database: the database's own count is raised to it.
 * @returns The cause of the freeze; null if there was none.
 */
export async function resumeSends(session: Session, counterSends: number): Promise<Frozen | null> {
  await session.makeDurable();
  const place = await databaseIdentity(session);
  return await session.atomically(async (tx) => {
    const frozen = await readFrozen(tx);
    await deleteMeta(tx, 'outbox.frozen');
    await writeMeta(tx, 'outbox.place', place);
    if (counterSends > (await readSendCount(tx))) await writeMeta(tx, 'outbox.sends', String(counterSends));
    const highest = await findHighestUnknownLink(tx);
    if (highest !== null) {
      await skipEntryIds(tx, highest);
      await writeMeta(tx, 'outbox.accepted_links', String(highest));
    }
    await probeBlocks(tx);
    return frozen;
  });
}
