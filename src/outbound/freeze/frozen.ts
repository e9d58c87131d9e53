import { instantText } from '../../lib/clock.ts';
import { highestForeignLink, numberBeyond } from '../../mirror/outbox/link-store.ts';
import { dropMeta, readMeta, writeMeta } from '../../mirror/kinds/meta.ts';
import type { Queryable, Session, Transaction } from '../../mirror/session/session.ts';

/** The reason why nothing is sent although writes are on. */
export interface Frozen {
  readonly reason: string;
  readonly since: string;
}

/** Reads the cause of a freeze; null = sends are allowed. */
export async function readFrozen(db: Queryable): Promise<Frozen | null> {
  const text = await readMeta(db, 'outbox.frozen');
  if (text === null) return null;
  return JSON.parse(text) as Frozen;
}

/** Stops all sends until a person resumes them; the first reason stays. */
export async function freeze(tx: Transaction, reason: string, now: Date): Promise<void> {
  if ((await readMeta(tx, 'outbox.frozen')) !== null) return;
  await writeMeta(tx, 'outbox.frozen', JSON.stringify({ reason, since: instantText(now) }));
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
    return frozen;
  });
}

async function acceptLinks(tx: Transaction, dialect: Session['dialect']): Promise<void> {
  const highest = await highestForeignLink(tx);
  if (highest === null) return;
  await numberBeyond(tx, dialect, highest);
  await writeMeta(tx, 'outbox.accepted_links', String(highest));
}
