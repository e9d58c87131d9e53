import type { Kind } from '../../catalog/kind.ts';
import { readSeenNames } from '../../store/kinds/field-store.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { baseHash, findEndedByKeys, requestHash, type EndedEntry } from '../../store/outbox/ended-entries.ts';
import { findByKeys, hasFirstBase, insertEntries, type Entry } from '../../store/outbox/outbox-store.ts';
import { saveDecision, type Decider } from '../../store/users/decision-store.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { checkEntries, type CheckedEntry, type EntryRequest } from './entry-request.ts';
import { refuseDuplicates } from './duplicate-check.ts';
import { planKeyFaults } from './validate-entry.ts';
import { describeAbsent, readOwnRows, type MirrorRow } from '../mirror-rows.ts';

/** The result of a request; `isNew`: false where it was stored before, under the same key. */
export interface StoredEntry extends Pick<Entry, 'id' | 'state' | 'key' | 'kind' | 'operation' | 'recordId'> {
  readonly isNew: boolean;
  readonly notes: readonly string[];
}

/** Checks requests against the catalogue and the fields that this mirror has seen. @throws {UsageError} `outbox.invalid`. */
export async function checkRequests(
  db: Queryable,
  kinds: readonly Kind[],
  requests: readonly EntryRequest[],
): Promise<CheckedEntry[]> {
  const named = new Set(requests.map((request) => request.kind));
  const wanted = kinds.map((kind) => kind.name).filter((name) => named.has(name));
  return await checkEntries(kinds, requests, await readSeenNames(db, wanted));
}

/**
 * Stores requests as entries of the outbox, all or none, and notes who has pushed them; a request stored earlier under the same key
 * is not stored again.
 * @throws {UsageError} `outbox.double` if something has the natural key of a create.
 * @throws {SyncError} `outbox.key_taken` if another request has the key.
 */
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
  const repeated = await readRepeated(tx, entries);
  const first = new Map<string, CheckedEntry>();
  for (const entry of entries) if (!repeated.has(entry) && !first.has(entry.key)) first.set(entry.key, entry);
  const fresh = [...first.values()];
  const alike = await refuseDuplicates(tx, fresh);
  const ids = await insertAll(tx, fresh, rows, push);
  // Their key is that of an earlier one of these requests, or was inserted by SQL meanwhile.
  const isRepeated = (entry: CheckedEntry) => first.get(entry.key) !== entry || !ids.has(entry.key);
  const others = entries.filter((entry) => first.has(entry.key) && isRepeated(entry));
  for (const [entry, stored] of await readRepeated(tx, others)) repeated.set(entry, stored);
  return entries.map(
    (entry) => repeated.get(entry) ?? toStoredEntry(entry, rowOf(rows, entry), ids, alike.get(entry)),
  );
}

async function savePush(tx: Transaction, stored: readonly StoredEntry[], by: Decider, now: Date) {
  const ids = stored.filter((entry) => entry.isNew).map((entry) => entry.id);
  const target = [ids.at(0), ids.slice(1).at(-1)].filter((id) => id !== undefined).join('-');
  if (target === '') return; // All were stored before, under the same keys.
  await saveDecision(tx, { ...by, what: 'push', target, detail: `entries ${ids.length}` }, now);
}

/** The mirror's rows for requests without a base from their author. */
async function readUpdatedRows(tx: Transaction, entries: readonly CheckedEntry[]) {
  const updates = entries.filter(({ operation, base }) => operation === 'update' && base === null);
  const rows = new Map<string, ReadonlyMap<string, MirrorRow>>();
  for (const [kind, ofKind] of Map.groupBy(updates, (entry) => entry.kind.name)) {
    const ids = ofKind.flatMap((entry) => entry.recordId ?? []);
    rows.set(kind, await readOwnRows(tx, kind, ids));
  }
  return rows;
}

type MirrorRows = ReadonlyMap<string, ReadonlyMap<string, MirrorRow>>;

const rowOf = (rows: MirrorRows, entry: CheckedEntry): MirrorRow | null =>
  rows.get(entry.kind.name)?.get(entry.recordId ?? '') ?? null;

async function insertAll(
  tx: Transaction,
  entries: readonly CheckedEntry[],
  rows: MirrorRows,
  push: PushFacts,
): Promise<ReadonlyMap<string, number>> {
  const fresh = entries.map((entry) => {
    const row = entry.base === null ? rowOf(rows, entry) : null;
    const base = entry.base ?? row?.raw ?? null;
    const kind = entry.kind.name;
    // The answer to a create may show less than the list.
    return { ...entry, kind, base, isMirrored: row?.isListed === true, pushedBy: push.by, now: push.now };
  });
  return insertEntries(tx, fresh);
}

function toStoredEntry(
  entry: CheckedEntry,
  row: MirrorRow | null,
  ids: ReadonlyMap<string, number>,
  note?: string,
): StoredEntry {
  const { key, operation, recordId } = entry;
  const kind = entry.kind.name;
  const id = ids.get(key);
  if (id === undefined) throw new Error('An entry was neither stored nor refused.');
  const notes = [...entry.notes, ...rowNotes(entry, row), ...(note === undefined ? [] : [note])];
  return { id, key, kind, operation, recordId, state: 'ready', isNew: true, notes };
}

/** Those of the requests that were stored before under the same keys. @throws {SyncError} `outbox.key_taken`. */
async function readRepeated(tx: Transaction, entries: readonly CheckedEntry[]) {
  const keys = entries.map((entry) => entry.key);
  const earlier = [...(await findByKeys(tx, keys)), ...(await findEndedByKeys(tx, keys))];
  const byKey = new Map(earlier.map((entry): [string, Entry | EndedEntry] => [entry.key, entry]));
  const repeated = new Map<CheckedEntry, StoredEntry>();
  for (const entry of entries) {
    const before = byKey.get(entry.key);
    if (before !== undefined) repeated.set(entry, toRepeatedEntry(entry, before));
  }
  return repeated;
}

/** What an earlier entry was requested to do. A base that was read since the push is not compared. */
function hashesOf(entry: CheckedEntry, earlier: Entry | EndedEntry) {
  if ('requestHash' in earlier) return { request: earlier.requestHash, base: earlier.baseHash };
  const base = hasFirstBase(earlier) ? earlier.base : entry.base;
  return { request: requestHash(earlier), base: baseHash(base) };
}

/**
 * The entry that was stored for the same request before. Without a base from the author, bases are not compared: they come from the
 * mirror, which may have changed in between.
 * @throws {SyncError} `outbox.key_taken`.
 */
function toRepeatedEntry(entry: CheckedEntry, earlier: Entry | EndedEntry): StoredEntry {
  const hashes = hashesOf(entry, earlier);
  const isSame = requestHash({ ...entry, kind: entry.kind.name }) === hashes.request;
  const hasOtherBase = entry.base !== null && baseHash(entry.base) !== hashes.base;
  const isPlanned = planKeyFaults(entry.key).length > 0; // A plan is applied once: the earlier entry is not its own.
  if (!isSame || hasOtherBase || isPlanned) throw keyTaken(entry, earlier, isPlanned);
  const { id, key, kind, operation, recordId, state } = earlier;
  const notes = state === 'abandoned' ? [...entry.notes, ABANDONED] : entry.notes;
  return { id, key, kind, operation, recordId, state, isNew: false, notes };
}

const ABANDONED = 'It was abandoned and will not be sent. To send it after all: push it with another key.';

/** Notes that the mirror has no live row for an update without a base. */
export function rowNotes(entry: CheckedEntry, row: MirrorRow | null): string[] {
  if (entry.operation === 'create' || entry.base !== null || row?.isLive === true) return [];
  const absent = describeAbsent(row, `record ${entry.recordId ?? ''} of ${entry.kind.name}`);
  return [row === null ? `${absent}: if the service does, its values are overwritten` : absent];
}

function keyTaken(entry: CheckedEntry, earlier: Entry | EndedEntry, isPlanned: boolean): SyncError {
  const owner = `entry ${earlier.id}, another ${earlier.operation} of ${earlier.kind}`;
  const place = entry.where === null ? '' : `${entry.where}: `;
  return new SyncError(`${place}The key "${entry.key}" belongs to ${owner}.`, {
    code: 'outbox.key_taken',
    hint: `Nothing was stored. ${isPlanned ? 'Make the plan again.' : 'Another change needs another key.'}`,
  });
}
