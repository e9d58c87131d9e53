import { sql } from 'drizzle-orm';
import type { Logger } from '../lib/log/logger.ts';
import { readMeta, renewLog, writeMeta, deleteMeta } from '../store/kinds/meta.ts';
import {
  describeUnknownLinks,
  findHighestUnknownLink,
  skipEntryIds,
} from '../store/outbox/attempts-and-links.ts';
import { probeBlocks } from '../store/outbox/outbox-queue.ts';
import { RESUME, freeze, readFrozen, type Frozen } from '../store/outbox/freeze-store.ts';
import { hasLiveRole } from '../store/runs/worker-store.ts';
import { addNotification } from '../store/notifications/notifications.ts';
import { databaseIdentity } from '../db/session/database-info.ts';
import type { Queryable, Session, Transaction } from '../db/session/session.ts';
import { hasRow } from '../db/rows/rows.ts';

/** The number of sends, kept beside the database, so that a restored back-up is detected. */
export interface SendCounter {
  /** 0 if there is no mark yet, null if it cannot be read now. */
  readonly read: () => Promise<number | null>;
  /** @param note Names the send, for a database that comes not to know of it. */
  readonly write: (sends: number, note?: string) => Promise<void>;
  /** The notes of the latest sends above a number. */
  readonly notes?: (after: number) => Promise<readonly string[]>;
}

export type CounterReader = Pick<SendCounter, 'read' | 'notes'>;

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

const readSendCount = async (db: Queryable): Promise<number> =>
  Number((await readMeta(db, 'outbox.sends')) ?? 0);

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
  const outside = await readOutside(session, sendCounter);
  if (outside.counterSends === null)
    logger.warn('cannot check whether a back-up was restored: the counter of the last send is unreadable');
  const found = await session.atomically(async (tx) => {
    if ((await readFrozen(tx)) !== null) return null;
    const cause = await causeToFreeze(tx, outside);
    if (cause === null) await writeMeta(tx, 'outbox.place', outside.place);
    else {
      const { reason, unknown } = cause;
      await freeze(tx, reason, now, unknown);
      const facts = { reason, ...(unknown && { unknown }) };
      await addNotification(tx, { type: 'outbox.frozen', facts, now });
    }
    return cause;
  });
  if (found !== null) logger.error({ ...found, hint: RESUME }, 'sends are paused until a user resumes them');
}

/** What shows how the entries of an outbox stand: the mirror, the processes that live, and the sends counted beside it. */
export interface OutboxReader {
  readonly session: Session;
  readonly sendCounter: CounterReader;
}

/** Why sends are paused, or would be once `serve` starts; a process at work that sends has looked itself. */
export async function readPause({ session, sendCounter }: OutboxReader): Promise<Frozen | null> {
  const isSending = await hasLiveRole(session, 'outbound');
  return isSending ? readFrozen(session) : findFreeze(session, sendCounter);
}

async function findFreeze(session: Session, sendCounter: CounterReader): Promise<Frozen | null> {
  const outside = await readOutside(session, sendCounter);
  return (await readFrozen(session)) ?? causeToFreeze(session, outside);
}

/** What stands beside the database. It is read before the database: a `serve` at work counts here first. */
async function readOutside(session: Session, { read, notes }: CounterReader) {
  return { counterSends: await read(), place: await databaseIdentity(session), notes };
}

type Outside = Awaited<ReturnType<typeof readOutside>>;

async function causeToFreeze(db: Queryable, { counterSends, place, notes }: Outside): Promise<Frozen | null> {
  const since = null;
  const databaseSends = await readSendCount(db);
  if (counterSends !== null && counterSends > databaseSends) {
    const reason = `${counterSends} sends were made from here, and this database knows of ${databaseSends}`;
    const unknown = (await notes?.(databaseSends)) ?? [];
    return { reason, since, ...(unknown.length > 0 && { unknown }) };
  }
  const known = await readMeta(db, 'outbox.place');
  const isCopy = known !== null && known !== place;
  // A copy without an entry has nothing that the other database could have sent.
  if (isCopy && (await hasRow(db, sql`select 1 from outbox limit 1`)))
    return { reason: 'this database is a copy of another one, which may have sent its entries', since };
  const accepted = Number((await readMeta(db, 'outbox.accepted_links')) ?? 0);
  const highest = await findHighestUnknownLink(db);
  if (highest === null || highest <= accepted) return null;
  const unknown = await describeUnknownLinks(db, accepted);
  return { reason: 'the mirror has creates that are not in its outbox', since, unknown };
}

/**
 * Resumes sends after a person has examined the cause of the freeze, which no `serve` need have found yet. The database's own count
 * is raised to the one beside it.
 * @returns The cause of the freeze; null if there was none.
 */
export async function resumeSends(session: Session, sendCounter: CounterReader): Promise<Frozen | null> {
  const frozen = await findFreeze(session, sendCounter);
  const { place, counterSends } = await readOutside(session, sendCounter);
  return await session.atomically(async (tx) => {
    if (frozen !== null) await renewLog(tx);
    await deleteMeta(tx, 'outbox.frozen');
    await writeMeta(tx, 'outbox.place', place);
    const sends = counterSends ?? 0;
    if (sends > (await readSendCount(tx))) await writeMeta(tx, 'outbox.sends', String(sends));
    const highest = await findHighestUnknownLink(tx);
    if (highest !== null) {
      await skipEntryIds(tx, highest);
      await writeMeta(tx, 'outbox.accepted_links', String(highest));
    }
    await probeBlocks(tx);
    return frozen;
  });
}
