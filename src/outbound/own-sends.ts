import { readMeta } from '../store/kinds/meta.ts';
import { RESUME, freeze, readFrozen } from '../store/outbox/freeze-store.ts';
import { readWorkerSends } from '../store/runs/worker-store.ts';
import { addNotification } from '../store/notifications/notifications.ts';
import type { Transaction } from '../db/session/session.ts';
import type { ProcessContext } from '../db/mirror-context.ts';
import type { Break } from './last-break.ts';

/**
 * The sends of this process, as it remembers them. Its row in the database counts them too, in the transactions that journal them:
 * where the row has fewer, the database has gone back to an earlier state, and would send the rest again.
 */
export interface OwnSends {
  /** Raised once a journal is committed. */
  count: number;
  /** The identity of the mirror in which this process found that it had gone back; an accepted resume renews it. */
  pausedIn: string | null;
  /** Null until the process has looked for the first time: its start is a break. */
  lastBreak: Break | null;
}

export const createOwnSends = (): OwnSends => ({ count: 0, pausedIn: null, lastBreak: null });

/** Returns whether nothing may be sent now; pauses all sends where the database knows fewer sends of this process than it made. */
export async function isPaused(tx: Transaction, parts: ProcessContext & { readonly ownSends: OwnSends }) {
  const { owner, ownSends, clock, logger } = parts;
  const isFrozen = (await readFrozen(tx)) !== null;
  const known = await readWorkerSends(tx, owner);
  if (known >= ownSends.count) return isFrozen;
  const log = await readMeta(tx, 'log');
  if (!isFrozen && ownSends.pausedIn !== null && ownSends.pausedIn !== log) {
    ownSends.count = known; // A person has accepted what is lost.
    ownSends.pausedIn = null;
    return false;
  }
  ownSends.pausedIn = log;
  if (isFrozen) return true;
  const now = clock.now();
  const reason = `${ownSends.count} sends were made from here, and this database knows of ${known}`;
  await freeze(tx, reason, now);
  await addNotification(tx, { type: 'outbox.frozen', facts: { reason }, now });
  logger.error({ reason, hint: RESUME }, 'sends are paused until a user resumes them');
  return true;
}
