import {
  changeEntry,
  findEntry,
  insertEntries,
  type Entry,
  type EntryPatch,
  type EntryState,
  type NewEntry,
} from '../../../src/store/outbox/outbox-store.ts';
import type { Session, Transaction } from '../../../src/db/session/session.ts';
import { NOON } from '../temp-mirror.ts';

// prettier-ignore
export const STATES: readonly EntryState[] = [
  'ready', 'sending', 'unsettled', 'done', 'parked', 'rejected', 'abandoned',
];

const CREATE = { kind: 'clients', operation: 'create', recordId: null, payload: '{"code":"C-1"}' } as const;

/** What makes an update of an entry. */
export const UPDATE = { operation: 'update', recordId: '17', naturalKey: null } as const;

let keys = 0;

/** An entry to insert: a create of clients with a key of its own, where nothing else is given. */
export const newEntry = (more: Partial<NewEntry> = {}): NewEntry => {
  return { ...CREATE, key: `key ${++keys}`, base: null, naturalKey: null, now: NOON, ...more };
};

/** Stores an entry, and answers its number; null if its key is taken. */
export const insertEntry = async (tx: Transaction, entry: NewEntry): Promise<number | null> =>
  (await insertEntries(tx, [entry])).get(entry.key) ?? null;

/** Stores an entry in some state, and answers its number. */
export const putEntry = (
  session: Session,
  patch: EntryPatch = {},
  more: Partial<NewEntry> = {},
): Promise<number> =>
  session.atomically(async (tx) => {
    const id = Number(await insertEntry(tx, newEntry({ naturalKey: 'C-1', ...more })));
    await changeEntry(tx, { id, epoch: 0, patch, now: NOON });
    return id;
  });

export async function readEntry(session: Session, id: number): Promise<Entry> {
  return (await findEntry(session, id)) ?? Promise.reject(new Error(`no entry ${id}`));
}
