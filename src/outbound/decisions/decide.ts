import { instantText } from '../../lib/time/clock.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { readAttempts } from '../../mirror/outbox/attempt-store.ts';
import { wakeWaiting } from '../../mirror/outbox/outbox-queue.ts';
import { changeEntry, findEntry } from '../../mirror/outbox/outbox-store.ts';
import type { Entry, EntryPatch, EntryState } from '../../mirror/outbox/outbox-store.ts';
import type { Session, Transaction } from '../../mirror/session/session.ts';
import { mayHaveArrived } from '../attempt/grade.ts';

/** The entry after a person's decision. */
export interface DecidedEntry {
  readonly entry: Entry;
  /** Consequences of the decision that the person should know. */
  readonly warning: string | null;
}

const RETRIED: readonly EntryState[] = ['parked', 'rejected'];
const ABANDONED: readonly EntryState[] = ['ready', 'unsettled', 'parked', 'rejected'];

/**
 * Gives an entry another attempt. A create that may have reached the service is searched for once more before it is
 * sent again; the findings stay noted, since the person has seen them.
 *
 * @throws {SyncError} `outbox.absent`, `outbox.wrong_state`, `outbox.in_work`.
 */
export async function retryEntry(session: Session, id: number, now: Date): Promise<DecidedEntry> {
  return await decide(session, async (tx) => {
    const entry = await entryIn(tx, { id, states: RETRIED, verb: 'retried' });
    const wasTried = entry.operation === 'create' && (await readAttempts(tx, id)).length > 0;
    const patch: EntryPatch = wasTried
      ? { state: 'unsettled', verdict: 'retry' }
      : { state: 'ready', verdict: null, result: null };
    await change(tx, { entry, patch: { ...patch, nextAttemptAt: instantText(now) }, now });
    return { warning: null, id };
  });
}

/**
 * Cancels an entry: no more requests are sent for it. Changes that have reached the service stay there.
 *
 * @throws {SyncError} `outbox.absent`, `outbox.wrong_state`, `outbox.in_work`.
 */
export async function abandonEntry(session: Session, id: number, now: Date): Promise<DecidedEntry> {
  return await decide(session, async (tx) => {
    const entry = await entryIn(tx, { id, states: ABANDONED, verb: 'abandoned' });
    await change(tx, { entry, patch: { state: 'abandoned', nextAttemptAt: null }, now });
    await wakeWaiting(tx, entry, now);
    const mayBeThere = entry.operation === 'create' && (await readAttempts(tx, id)).some(mayHaveArrived);
    return { warning: mayBeThere ? MAY_BE_THERE : null, id };
  });
}

const MAY_BE_THERE =
  'The service may have the record all the same: it was sent once, and the outcome is unknown.';

/** Makes a decision in one transaction and reads the entry afterwards. */
export async function decide(
  session: Session,
  work: (tx: Transaction) => Promise<{ readonly id: number; readonly warning: string | null }>,
): Promise<DecidedEntry> {
  await session.makeDurable();
  return await session.atomically(async (tx) => {
    const { id, warning } = await work(tx);
    const entry = await findEntry(tx, id);
    if (entry === null) throw absent(id);
    return { entry, warning };
  });
}

interface Wanted {
  readonly id: number;
  /** The states from which the decision can be made. */
  readonly states: readonly EntryState[];
  /** The decision in words, for messages. */
  readonly verb: string;
}

/** @throws {SyncError} If there is no such entry, or its state does not allow this decision. */
export async function entryIn(tx: Transaction, { id, states, verb }: Wanted): Promise<Entry> {
  const entry = await findEntry(tx, id);
  if (entry === null) throw absent(id);
  if (!states.includes(entry.state))
    throw new SyncError(`Entry ${id} is ${entry.state}: only what is ${orList(states)} can be ${verb}.`, {
      code: 'outbox.wrong_state',
      hint: `bms-sync outbox show ${id}`,
    });
  if (entry.owner !== null) throw inWork(id);
  return entry;
}

interface DecisionChange {
  readonly entry: Entry;
  readonly patch: EntryPatch;
  readonly now: Date;
}

/** Applies a decision to an entry, and releases it from the worker that was notified of it. */
export async function change(tx: Transaction, { entry, patch, now }: DecisionChange): Promise<void> {
  const { id, epoch } = entry;
  if (!(await changeEntry(tx, { id, epoch, patch, now, raises: true }))) throw inWork(id);
}

function inWork(id: number): SyncError {
  return new SyncError(`Entry ${id} is being worked on at this moment.`, {
    code: 'outbox.in_work',
    hint: 'Try again in a minute.',
  });
}

export function absent(id: number): SyncError {
  return new SyncError(`There is no entry ${id} in the outbox.`, {
    code: 'outbox.absent',
    hint: 'bms-sync outbox lists what waits for something; with --all, everything.',
  });
}

const orList = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
