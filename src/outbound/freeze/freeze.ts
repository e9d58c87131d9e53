import type { Logger } from '../../lib/logger.ts';
import { highestForeignLink } from '../../mirror/outbox/link-store.ts';
import { readMeta, writeMeta } from '../../mirror/kinds/meta.ts';
import type { Session, Transaction } from '../../mirror/session/session.ts';
import { freeze, readFrozen } from './frozen.ts';

/** The number of sends, kept beside the database, so that a restored back-up is detected. */
export interface SendMark {
  /** 0 if there is no mark yet, null if it cannot be read now. */
  readonly read: () => Promise<number | null>;
  readonly write: (sends: number) => Promise<void>;
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

const RESUME = 'Compare the sends since the back-up with the service, then: bms-sync outbox resume';

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
