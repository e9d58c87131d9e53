import type { Logger } from '../lib/log/logger.ts';
import { readMeta, writeMeta, dropMeta } from '../mirror/kinds/meta.ts';
import { highestForeignLink, numberBeyond } from '../mirror/outbox/attempts-and-links.ts';
import { probeBlocks } from '../mirror/outbox/outbox-queue.ts';
import { RESUME, freeze, readFrozen } from '../mirror/outbox/freeze-store.ts';
import type { Frozen } from '../mirror/outbox/freeze-store.ts';
import type { Session, Transaction } from '../mirror/session/session.ts';

/** The number of sends, kept beside the database, so that a restored back-up is detected. */
export interface SendMark {
  /** 0 if there is no mark yet, null if it cannot be read now. */
  readonly read: () => Promise<number | null>;
  readonly write: (sends: number) => Promise<void>;
}

/** A mark that can be closed. */
export interface OpenMark extends SendMark {
  readonly close: () => void;
}

/** Counts a send within the transaction that journals it; returns the number of sends so far. */
export async function countSend(tx: Transaction): Promise<number> {
  const sends = Number((await readMeta(tx, 'outbox.sends')) ?? 0) + 1;
  await writeMeta(tx, 'outbox.sends', String(sends));
  return sends;
}

/**
 * Freezes all sends if the database is older than the sends made from it: a restored backup has forgotten sends, and
 * would repeat them.
 */
export async function freezeIfRestored(
  session: Session,
  { mark, now, logger }: { readonly mark: SendMark; readonly now: Date; readonly logger: Logger },
): Promise<void> {
  const marked = await mark.read();
  if (marked === null)
    logger.warn('whether a back-up was restored cannot be told: the mark of the last send cannot be read');
  const reason = await session.atomically(async (tx) => {
    if ((await readFrozen(tx)) !== null) return null;
    const counted = Number((await readMeta(tx, 'outbox.sends')) ?? 0);
    const found = await reasonToFreeze(tx, { marked, counted });
    if (found !== null) await freeze(tx, found, now);
    return found;
  });
  if (reason !== null) logger.error({ reason, hint: RESUME }, 'nothing is sent until a person says so');
}

async function reasonToFreeze(
  tx: Transaction,
  { marked, counted }: { readonly marked: number | null; readonly counted: number },
): Promise<string | null> {
  if (marked !== null && marked > counted)
    return `${marked} sends were made from here, and this database knows of ${counted}`;
  const [highest, accepted] = [await highestForeignLink(tx), await readMeta(tx, 'outbox.accepted_links')];
  if (highest === null || highest <= Number(accepted ?? 0)) return null;
  return 'the mirror knows of creations that its outbox does not';
}

/**
 * Resumes sends after a person has examined the cause of the freeze.
 *
 * @param marked The sends counted by the mark beside the database: the database's own count is raised to it.
 * @returns The cause of the freeze; null if there was none.
 */
export async function resumeSends(session: Session, marked: number): Promise<Frozen | null> {
  await session.makeDurable();
  return await session.atomically(async (tx) => {
    const frozen = await readFrozen(tx);
    await dropMeta(tx, 'outbox.frozen');
    const counted = Number((await readMeta(tx, 'outbox.sends')) ?? 0);
    if (marked > counted) await writeMeta(tx, 'outbox.sends', String(marked));
    await acceptLinks(tx, session.dialect);
    await probeBlocks(tx);
    return frozen;
  });
}

async function acceptLinks(tx: Transaction, dialect: Session['dialect']): Promise<void> {
  const highest = await highestForeignLink(tx);
  if (highest === null) return;
  await numberBeyond(tx, dialect, highest);
  await writeMeta(tx, 'outbox.accepted_links', String(highest));
}
