import type { Kind } from '../../catalog/kind.ts';
import { readSeenNames } from '../../store/kinds/field-store.ts';
import type { DocumentOf } from '../../lib/json/document.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { baseHash, findEndedByKey, requestHash, type EndedEntry } from '../../store/outbox/ended-entries.ts';
import { findByKey, insertEntry, type Entry } from '../../store/outbox/outbox-store.ts';
import { saveDecision, type Decider } from '../../store/users/decision-store.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import type { storedEntry } from '../decisions/entry-document.ts';
import { checkEntries, type CheckedEntry, type EntryRequest } from './entry-request.ts';
import { findKeyHolder, refuseDuplicates, type DuplicateRefusal } from './duplicate-check.ts';
import { readOwnRows, type MirrorRow } from '../attempt/land-own-write.ts';

/** The result of a request; `isNew`: false where it was stored before, under the same key. */
export type StoredEntry = DocumentOf<typeof storedEntry>;

/**
 * Stores requests as entries of the outbox, all or none; a request stored earlier under the same key is not stored
 * again.
 *
 * @throws {UsageError} `outbox.invalid`, `outbox.double` if something has the natural key of a create.
 * @throws {SyncError} `outbox.key_taken` if another request has the key.
 */
export async function storeEntries(
  session: Session,
  asked: { readonly kinds: readonly Kind[]; readonly requests: readonly EntryRequest[]; readonly now: Date },
): Promise<StoredEntry[]> {
  return await storeChecked(session, await checkRequests(session, asked.kinds, asked.requests), asked.now);
}

/**
 * Checks requests against the catalogue and the fields that this mirror has seen.
 *
 * @throws {UsageError} `outbox.invalid`.
 */
export async function checkRequests(
  db: Queryable,
  kinds: readonly Kind[],
  requests: readonly EntryRequest[],
): Promise<CheckedEntry[]> {
  const named = new Set(requests.map((request) => request.kind));
  const wanted = kinds.map((kind) => kind.name).filter((name) => named.has(name));
  return checkEntries(kinds, requests, await readSeenNames(db, wanted));
}

/** Stores requests that have been checked, and notes who has pushed them; as `storeEntries` otherwise. */
export async function storeChecked(
  session: Session,
  entries: readonly CheckedEntry[],
  now: Date,
  by?: Decider,
): Promise<StoredEntry[]> {
  await session.makeDurable(); // A caller that got an answer will not repeat the request, so the entry must survive a power cut.
  return await session.atomically(async (tx) => {
    const stored = await storeInTransaction(tx, entries, { now, by: by?.who ?? null });
    if (by !== undefined) await savePush(tx, stored, by, now);
    return stored;
  });
}

interface PushFacts {
  readonly now: Date;
  /** The name of the person; null where a program pushes by itself. */
  readonly by: string | null;
}

/** As `storeChecked`, within a transaction of the caller. */
export async function storeInTransaction(
  tx: Transaction,
  entries: readonly CheckedEntry[],
  push: PushFacts,
): Promise<StoredEntry[]> {
  const rows = await readUpdatedRows(tx, entries);
  const stored: StoredEntry[] = [];
  const refused: DuplicateRefusal[] = [];
  for (const entry of entries) {
    const before = await findStored(tx, entry);
    const needsDuplicateCheck = before === null && entry.operation === 'create' && !entry.allowsDouble;
    const holder = needsDuplicateCheck ? await findKeyHolder(tx, entry) : null;
    const row = rows.get(entry.kind.name)?.get(entry.recordId ?? '') ?? null;
    if (holder !== null) refused.push({ where: entry.where, kind: entry.kind.name, holder });
    else stored.push(before ?? (await storeEntry(tx, entry, row, push)));
  }
  refuseDuplicates(refused);
  return stored;
}

async function savePush(tx: Transaction, stored: readonly StoredEntry[], by: Decider, now: Date) {
  const ids = stored.filter((one) => one.isNew).map((one) => one.id);
  const target = [ids.at(0), ids.slice(1).at(-1)].filter((id) => id !== undefined).join('-');
  if (target === '') return; // All were stored before, under the same keys.
  await saveDecision(tx, { ...by, what: 'push', target, detail: `entries ${ids.length}` }, now);
}

/** The mirror's rows for requests without a base from their author. */
async function readUpdatedRows(tx: Transaction, entries: readonly CheckedEntry[]) {
  const ids = new Map<string, string[]>();
  for (const { operation, base, kind, recordId } of entries) {
    if (operation === 'create' || base !== null || recordId === null) continue;
    const some = ids.get(kind.name) ?? [];
    some.push(recordId);
    ids.set(kind.name, some);
  }
  const rows = new Map<string, ReadonlyMap<string, MirrorRow>>();
  for (const [kind, some] of ids) rows.set(kind, await readOwnRows(tx, kind, some));
  return rows;
}

async function storeEntry(
  tx: Transaction,
  entry: CheckedEntry,
  row: MirrorRow | null,
  push: PushFacts,
): Promise<StoredEntry> {
  const { key, operation, recordId, payload, naturalKey, allowsUnknown, allowsDouble, notes } = entry;
  const kind = entry.kind.name;
  const base = entry.base ?? row?.raw ?? null;
  const columns = { key, kind, operation, recordId, payload, base, naturalKey, allowsUnknown, allowsDouble };
  const isMirrored = entry.base === null && row !== null;
  const id = await insertEntry(tx, { ...columns, isMirrored, pushedBy: push.by, now: push.now });
  if (id === null) throw keyTaken(entry, null); // Stored by another program at this moment.
  const stored = { id, key, kind, operation, recordId, state: 'ready', isNew: true } as const;
  return { ...stored, notes: [...notes, ...rowNotes(entry, row)] };
}

/**
 * The entry that was stored for the same request before; null if none was.
 *
 * @throws {SyncError} `outbox.key_taken`.
 */
async function findStored(tx: Transaction, entry: CheckedEntry): Promise<StoredEntry | null> {
  const ended = await findEndedByKey(tx, entry.key);
  if (ended !== null) return toRepeatedEntry(entry, ended, ended.requestHash, ended.baseHash);
  const earlier = await findByKey(tx, entry.key);
  if (earlier === null) return null;
  return toRepeatedEntry(entry, earlier, requestHash(earlier), baseHash(earlier.base));
}

/** Without a base from the author, bases are not compared: they come from the mirror, which may have changed in between. */
function toRepeatedEntry(
  entry: CheckedEntry,
  earlier: EarlierEntry,
  earlierRequest: string,
  earlierBase: EndedEntry['baseHash'],
): StoredEntry {
  const isSame = requestHash({ ...entry, kind: entry.kind.name }) === earlierRequest;
  const hasOtherBase = entry.base !== null && baseHash(entry.base) !== earlierBase;
  if (!isSame || hasOtherBase) throw keyTaken(entry, earlier);
  const { id, key, kind, operation, recordId, state } = earlier;
  return { id, key, kind, operation, recordId, state, isNew: false, notes: entry.notes };
}

type EarlierEntry = Pick<Entry, 'id' | 'key' | 'kind' | 'operation' | 'recordId' | 'state'>;

function rowNotes(entry: CheckedEntry, row: MirrorRow | null): string[] {
  if (entry.operation === 'create' || entry.base !== null || row?.isLive === true) return [];
  const record = `record ${entry.recordId ?? ''} of ${entry.kind.name}`;
  return row === null
    ? [`the mirror does not have ${record}: the value in the service will be overwritten`]
    : [`the mirror holds ${record} as deleted`];
}

function keyTaken(entry: CheckedEntry, earlier: EarlierEntry | null): SyncError {
  const owner =
    earlier === null
      ? 'another entry'
      : `entry ${earlier.id}, another ${earlier.operation} of ${earlier.kind}`;
  return new SyncError(
    `${entry.where === null ? '' : `${entry.where}: `}The key "${entry.key}" belongs to ${owner}.`,
    {
      code: 'outbox.key_taken',
      hint: 'Nothing was stored. Another change needs another key.',
    },
  );
}
