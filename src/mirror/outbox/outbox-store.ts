import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import type { Queryable, Row, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

export type EntryState = 'ready' | 'sending' | 'unsettled' | 'done' | 'parked' | 'rejected' | 'abandoned';
export type Operation = 'create' | 'update';

/** A create or update in the outbox. */
export interface Entry {
  readonly id: number;
  readonly key: string;
  readonly kind: string;
  readonly operation: Operation;
  /** The record of an update, or of a create once it is known. */
  readonly recordId: string | null;
  /** A JSON object with the field names of a write. */
  readonly payload: string;
  /** The record as the caller saw it before, a JSON object with the field names of a read; null = not given. */
  readonly base: string | null;
  /** When the base was taken from the mirror; null if the caller gave it. */
  readonly baseAt: string | null;
  readonly state: EntryState;
  /** Raised by every claim; a process with an older epoch can no longer write the entry. */
  readonly epoch: number;
  readonly owner: string | null;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly naturalKey: string | null;
  /** The mirror's state before the last send, as JSON. */
  readonly preimage: string | null;
  /** A stable code: why the entry is in its state. */
  readonly verdict: string | null;
  /** Details of the verdict, as JSON. */
  readonly result: string | null;
  /** Fields that nobody knows are sent all the same. */
  readonly allowsUnknown: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NewEntry extends Pick<
  Entry,
  'key' | 'kind' | 'operation' | 'recordId' | 'payload' | 'base' | 'naturalKey'
> {
  /** The base is the record as the mirror holds it now. */
  readonly isMirrored?: boolean;
  readonly allowsUnknown?: boolean;
  readonly now: Date;
}

/** Stores an entry and returns its id; null if its key is taken. */
export async function insertEntry(tx: Transaction, entry: NewEntry): Promise<number | null> {
  const { key, kind, operation, recordId, payload, base, naturalKey } = entry;
  const at = instantText(entry.now);
  const baseAt = entry.isMirrored === true ? at : null;
  const allowUnknown = entry.allowsUnknown === true ? 1 : 0;
  const [row] = await tx.query(sql`
    insert into outbox (idempotency_key, kind, operation, record_id, payload, base, base_at, natural_key,
      allow_unknown, created_at, updated_at)
    values (${key}, ${kind}, ${operation}, ${recordId}, ${payload}, ${base}, ${baseAt}, ${naturalKey},
      ${allowUnknown}, ${at}, ${at})
    on conflict (idempotency_key) do nothing returning id`);
  return row === undefined ? null : Number(row['id']);
}

export async function findEntry(db: Queryable, id: number): Promise<Entry | null> {
  const [row] = await db.query(sql`select * from outbox where id = ${id}`);
  return row === undefined ? null : entryOf(row);
}

export async function findByKey(db: Queryable, key: string): Promise<Entry | null> {
  const [row] = await db.query(sql`select * from outbox where idempotency_key = ${key}`);
  return row === undefined ? null : entryOf(row);
}

/** The latest entries in these states, newest first. */
export async function listEntries(
  db: Queryable,
  { states, limit }: { readonly states: readonly EntryState[]; readonly limit: number },
): Promise<Entry[]> {
  const rows = await db.query(
    sql`select * from outbox where state in (${sqlList(states)}) order by id desc limit ${limit}`,
  );
  return rows.map(entryOf);
}

export interface EntriesWanted {
  readonly states: readonly EntryState[];
  /** Only entries with a higher id; 0 for all. */
  readonly after: number;
  readonly limit: number;
}

/** The first entries after an id that are in these states, in the order of their ids. */
export async function entriesAfter(db: Queryable, { states, after, limit }: EntriesWanted): Promise<Entry[]> {
  const rows = await db.query(sql`
    select * from outbox where id > ${after} and state in (${sqlList(states)}) order by id limit ${limit}`);
  return rows.map(entryOf);
}

/** The number of entries by state; states without any are left out. */
export async function countEntries(db: Queryable): Promise<Partial<Record<EntryState, number>>> {
  const rows = await db.query(sql`select state, count(*) as n from outbox group by state`);
  return Object.fromEntries(rows.map((row) => [String(row['state']), Number(row['n'])]));
}

/** Updates of a record that were done between this entry's base and its claim, in their order. */
export async function updatesSince(
  db: Queryable,
  { id, kind, recordId }: Entry,
  baseAt: string,
): Promise<Entry[]> {
  const rows = await db.query(sql`
    select * from outbox where kind = ${kind} and record_id = ${recordId} and operation = 'update'
      and state = 'done' and id < ${id} and updated_at >= ${baseAt} order by id`);
  return rows.map(entryOf);
}

/** Fields of an entry that its worker may change. */
export type EntryPatch = Partial<
  Pick<
    Entry,
    | 'state'
    | 'recordId'
    | 'attempts'
    | 'nextAttemptAt'
    | 'naturalKey'
    | 'payload'
    | 'base'
    | 'baseAt'
    | 'preimage'
    | 'verdict'
    | 'result'
    | 'owner'
  >
>;

const COLUMNS: Record<keyof EntryPatch, string> = {
  state: 'state',
  recordId: 'record_id',
  attempts: 'attempts',
  nextAttemptAt: 'next_attempt_at',
  naturalKey: 'natural_key',
  payload: 'payload',
  base: 'base',
  baseAt: 'base_at',
  preimage: 'preimage',
  verdict: 'verdict',
  result: 'result',
  owner: 'owner',
};

interface EntryChange {
  readonly id: number;
  /** The writer's epoch; an entry with another epoch is left alone. */
  readonly epoch: number;
  readonly patch: EntryPatch;
  readonly now: Date;
  /** Takes the entry away from its present worker. */
  readonly raises?: true;
}

/** Changes an entry by compare-and-set; false if another process has claimed it meanwhile. */
export async function changeEntry(
  tx: Transaction,
  { id, epoch, patch, now, raises }: EntryChange,
): Promise<boolean> {
  const sets: SQL[] = [sql`updated_at = ${instantText(now)}`];
  if (raises) sets.push(sql`epoch = epoch + 1`);
  for (const [name, column] of Object.entries(COLUMNS) as [keyof EntryPatch, string][]) {
    const value = patch[name];
    if (value !== undefined) sets.push(sql`${sql.identifier(column)} = ${value}`);
  }
  const changed = await tx.query(sql`
    update outbox set ${sql.join(sets, sql`, `)} where id = ${id} and epoch = ${epoch} returning id`);
  return changed.length > 0;
}

export function entryOf(row: Row): Entry {
  const text = (name: string): string | null => (typeof row[name] === 'string' ? row[name] : null);
  return {
    id: Number(row['id']),
    key: String(row['idempotency_key']),
    kind: String(row['kind']),
    operation: String(row['operation']) as Operation,
    recordId: row['record_id'] === null ? null : String(row['record_id']),
    payload: String(row['payload']),
    base: text('base'),
    baseAt: text('base_at'),
    state: String(row['state']) as EntryState,
    epoch: Number(row['epoch']),
    owner: text('owner'),
    attempts: Number(row['attempts']),
    nextAttemptAt: text('next_attempt_at'),
    naturalKey: text('natural_key'),
    preimage: text('preimage'),
    verdict: text('verdict'),
    result: text('result'),
    allowsUnknown: Number(row['allow_unknown']) === 1,
    createdAt: String(row['created_at']),
    updatedAt: String(row['updated_at']),
  };
}
