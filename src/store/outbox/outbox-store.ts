import { sql, type SQL } from 'drizzle-orm';
import { formatInstant, parseInstant } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import { mirrorInstant } from '../kinds/mirror-clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { OUTBOX } from '../tables/outbox-tables.ts';
import { formatSettlement, parseSettlement, type SettlementNotes } from './settlement.ts';
import {
  assignments,
  hasRow,
  insertNew,
  pickColumns,
  readInChunks,
  readRows,
  readTexts,
  select,
  wordOf,
} from '../../db/rows/rows.ts';

/** A create or update in the outbox. */
export interface Entry extends Omit<
  typeof OUTBOX.$inferSelect,
  'idempotencyKey' | 'allowUnknown' | 'allowDouble' | 'settlement'
> {
  readonly key: string;
  readonly settlement: SettlementNotes;
  /** Unknown fields (neither documented nor seen) are sent, too. */
  readonly allowsUnknown: boolean;
  /** It is sent although a record has its natural key. */
  readonly allowsDouble: boolean;
}

export type EntryState = Entry['state'];

/** States in which an entry may still be sent, or may have reached the service unseen. */
export const OPEN_STATES: readonly string[] = ['ready', 'sending', 'unsettled', 'parked'];

export type Operation = Entry['operation'];

/** Reads entries. @param condition What follows `select … from outbox where`. */
export async function entriesWhere(db: Queryable, condition: SQL): Promise<Entry[]> {
  return readEntries(db, sql`select * from outbox where ${condition}`);
}

/** Runs a statement that returns whole rows of the outbox. */
export async function readEntries(db: Queryable, statement: SQL): Promise<Entry[]> {
  const rows = await readRows(db, OUTBOX, statement);
  return rows.map(({ idempotencyKey: key, allowUnknown, allowDouble, settlement, ...row }) => ({
    ...row,
    key,
    settlement: parseSettlement(settlement),
    allowsUnknown: allowUnknown === 1,
    allowsDouble: allowDouble === 1,
  }));
}

export interface NewEntry extends Pick<
  Entry,
  'key' | 'kind' | 'operation' | 'recordId' | 'payload' | 'base' | 'naturalKey'
> {
  /** The base is the record as the mirror holds it now. */
  readonly isMirrored?: boolean;
  readonly allowsUnknown?: boolean;
  readonly allowsDouble?: boolean;
  readonly pushedBy?: string | null;
  readonly now: Date;
}

/** Stores entries and returns their ids by their keys; one whose key is taken is left out. */
export async function insertEntries(
  tx: Transaction,
  entries: readonly NewEntry[],
): Promise<ReadonlyMap<string, number>> {
  const [first] = entries;
  if (first === undefined) return new Map();
  const at = await mirrorInstant(tx, first.now);
  return insertNew(
    tx,
    OUTBOX,
    entries.map((entry) => newRow(entry, at)),
    'idempotency_key',
  );
}

const newRow = (entry: NewEntry, at: string) => ({
  ...entry,
  idempotencyKey: entry.key,
  baseAt: entry.isMirrored === true ? at : null,
  allowUnknown: Number(entry.allowsUnknown === true),
  allowDouble: Number(entry.allowsDouble === true),
  createdAt: at,
  updatedAt: at,
  pushedBy: entry.pushedBy ?? null,
});

export async function findEntry(db: Queryable, id: number): Promise<Entry | null> {
  return (await entriesWhere(db, sql`id = ${id}`))[0] ?? null;
}

/** Who has pushed the entries that change events name, by their origins: `outbox:12`. */
export async function pushersOf(
  db: Queryable,
  events: readonly { readonly origin: string }[],
): Promise<ReadonlyMap<string, string>> {
  const ids = events.flatMap((event) => entryOf(event.origin) ?? []);
  if (ids.length === 0) return new Map();
  const rows = await select(db, pickColumns(OUTBOX, 'id', 'pushedBy'), sql`where id in (${sqlList(ids)})`);
  return new Map(rows.flatMap((row) => (row.pushedBy === null ? [] : [[`outbox:${row.id}`, row.pushedBy]])));
}

/** The callers' keys of entries by their numbers, also of ended ones; a key may name the person whose record was forgotten. */
export async function keysOf(db: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  const isKept = sql`not exists (select 1 from erasures as e where e.kind = o.kind and e.record_id = o.record_id)`;
  const keys = sql`
    select id, idempotency_key as key from outbox as o where id in (${sqlList(ids)}) and ${isKept}
    union all select outbox_id, idempotency_key from outbox_keys as o where outbox_id in (${sqlList(ids)}) and ${isKept}`;
  const rows = await readRows(db, { id: Number, key: String }, keys);
  return new Map(rows.map((row) => [row.id, row.key]));
}

/** The number of the entry that an origin names; null for changes that others made. */
export const entryOf = (origin: string): number | null =>
  origin.startsWith('outbox:') ? Number(origin.slice('outbox:'.length)) : null;

/** Whether an entry has the base that it was stored with: none that was read, or corrected by a decision, since. */
export const hasFirstBase = ({ baseAt, createdAt }: Pick<Entry, 'baseAt' | 'createdAt'>): boolean =>
  baseAt === null || baseAt <= createdAt;

/**
 * The instant of a base that an entry gets after it was stored: a later one, also by a clock that was set back or is behind the one
 * that dated the entry. Else what another record shows by now would count as what the author knew.
 */
export const laterThanStored = ({ createdAt }: Pick<Entry, 'createdAt'>, now: Date): string =>
  formatInstant(new Date(Math.max(now.getTime(), parseInstant(createdAt).getTime() + 1)));

/** Finds the entries with these keys. */
export const findByKeys = (db: Queryable, keys: readonly string[]): Promise<Entry[]> =>
  readInChunks(keys, (some) => entriesWhere(db, sql`idempotency_key in (${some})`));

/** The latest entries in these states, newest first. @param before Only entries with a lower id. */
export async function listEntries(
  db: Queryable,
  states: readonly EntryState[],
  limit: number,
  before = Number.MAX_SAFE_INTEGER,
): Promise<Entry[]> {
  const latest = sql`state in (${sqlList(states)}) and id < ${before} order by id desc limit ${limit}`;
  return entriesWhere(db, latest);
}

/** The first entries after an id that are in these states, in the order of their ids. */
export async function entriesAfter(
  db: Queryable,
  states: readonly EntryState[],
  limit: number,
  after: number,
): Promise<Entry[]> {
  return entriesWhere(db, sql`state in (${sqlList(states)}) and id > ${after} order by id limit ${limit}`);
}

/** Finds the entries with these numbers, in their order. */
export const findEntries = (db: Queryable, ids: readonly number[]): Promise<Entry[]> =>
  readInChunks(ids, (some) => entriesWhere(db, sql`id in (${some}) order by id`));

/** Counts those of these entries that are in one of these states. */
export async function countInStates(db: Queryable, ids: readonly number[], states: readonly EntryState[]) {
  const found = await readInChunks(ids, (some) =>
    readTexts(db, sql`select id from outbox where id in (${some}) and state in (${sqlList(states)})`),
  );
  return found.length;
}

/** The number of entries by state; states without any are left out. */
export async function countEntries(db: Queryable): Promise<Partial<Record<EntryState, number>>> {
  const counts = sql`select state, count(*) as n from outbox group by state`;
  const rows = await readRows(db, { state: wordOf<EntryState>(), n: Number }, counts);
  return Object.fromEntries(rows.map((row) => [row.state, row.n]));
}

/** Updates of a record that were done between this entry's base and its claim, in their order. */
export async function updatesSince(db: Queryable, entry: Entry, baseAt: string): Promise<Entry[]> {
  const { id, kind, recordId } = entry;
  const updates = sql`
    kind = ${kind} and record_id = ${recordId} and operation = 'update' and state = 'done'
      and id < ${id} and updated_at >= ${baseAt} order by id`;
  return entriesWhere(db, updates);
}

const LATEST_UPDATES = 50;

/** The latest updates of a record, the newest first. */
export function updatesOf(db: Queryable, kind: string, recordId: string | null): Promise<Entry[]> {
  const latest = sql`order by id desc limit ${LATEST_UPDATES}`;
  return entriesWhere(db, sql`kind = ${kind} and record_id = ${recordId} and operation = 'update' ${latest}`);
}

type FixedOfEntry = 'id' | 'kind' | 'operation' | 'epoch' | `allows${string}` | 'createdAt' | 'updatedAt';

/** Fields of an entry that its worker may change. */
export type EntryPatch = Partial<Omit<Entry, 'key' | FixedOfEntry>> & {
  /** A person has seen the record that has the natural key. */
  readonly allowDouble?: 1;
};

/**
 * Changes an entry by compare-and-set; false if another process has claimed it meanwhile, as its epoch shows. `raises` takes the
 * entry away from its present worker.
 */
export async function changeEntry(
  tx: Transaction,
  ref: WorkRef & { patch: EntryPatch; now: Date; raises?: true },
): Promise<boolean> {
  const { settlement, ...columns } = ref.patch;
  const notes = settlement && { settlement: formatSettlement(settlement) };
  const change = sql`
    update outbox set ${assignments(OUTBOX, { ...columns, ...notes, updatedAt: formatInstant(ref.now) })}
      ${ref.raises ? sql`, epoch = epoch + 1` : sql``}
    where id = ${ref.id} and epoch = ${ref.epoch} returning id`;
  return hasRow(tx, change);
}
