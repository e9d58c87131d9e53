import { sql, type SQL } from 'drizzle-orm';
import { latestPlausible, formatInstant } from '../../lib/time/clock.ts';
import type { DueWork, WorkRef } from '../../lib/work-queue.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { OUTBOX, WRITE_BLOCKS } from '../tables/outbox-tables.ts';
import {
  claimRow,
  hasRow,
  insertInto,
  pickColumns,
  raiseRowEpoch,
  readNumber,
  readTexts,
  select,
  selectOne,
  type WorkClaim,
} from '../../db/rows/rows.ts';
import { OPEN_STATES, readEntries, entriesWhere, type Entry } from './outbox-store.ts';

/**
 * Due entries that no process works on, oldest first: sends, and searches for unsettled creates. In a blocked kind, entries with
 * failed attempts come last.
 */
export async function dueEntries(db: Queryable, now: Date, limit: number): Promise<DueWork[]> {
  const due = sql`where owner is null and ${isDue(now)} order by ${TRIED}, id limit ${limit}`;
  const rows = await select(db, pickColumns(OUTBOX, 'id', 'epoch', 'operation', 'kind'), due);
  return rows.map(({ id, epoch, operation, kind }) => ({ id, epoch, task: `${operation} ${kind}` }));
}

const TRIED = sql`case when verdict in ('kind_blocked', 'forbidden') then attempts else 0 end`;

/**
 * A ready entry without an instant is due at once, so that an application can insert it without one; and so is one whose instant a
 * clock that was ahead has written.
 */
function isDue(now: Date): SQL {
  return sql`state in ('ready', 'unsettled')
    and (next_attempt_at <= ${formatInstant(now)} or (next_attempt_at is null and state = 'ready')
      or (next_attempt_at is not null and updated_at > ${formatInstant(latestPlausible(now))}))`;
}

/** Claims an entry by compare-and-set and raises its epoch; null if it is no longer due with this epoch. */
export async function claimEntry(tx: Transaction, claim: WorkClaim): Promise<Entry | null> {
  return (await readEntries(tx, claimRow({ table: OUTBOX, isDue: isDue(claim.now) }, claim)))[0] ?? null;
}

/** Raises the epoch of an entry that is still due with this one; null if it is not. */
export const raiseEntry = (tx: Transaction, ref: WorkRef, now: Date): Promise<WorkRef | null> =>
  raiseRowEpoch(tx, { table: OUTBOX, isDue: isDue(now) }, ref);

/** Every entry that a process works on, or was working on when it died. */
export async function ownedEntries(db: Queryable): Promise<Entry[]> {
  return entriesWhere(db, sql`owner is not null`);
}

/**
 * The first entry that this one must wait for: an earlier one of the same record or with the same natural key, or a create that was
 * sent before it, since an application may insert an earlier one without its key.
 */
export async function findBlockingEntry(db: Queryable, entry: Entry) {
  const { id, operation, attempts } = entry;
  const isSent = sql`case when attempts > 0 or state in ('sending', 'unsettled') then 1 else 0 end`;
  const isBefore =
    operation === 'update'
      ? sql`(id < ${id} or (id > ${id} and state = 'sending'))`
      : sql`(${isSent} > ${attempts > 0 ? 1 : 0} or (${isSent} = ${attempts > 0 ? 1 : 0} and id < ${id}))`;
  const first = sql`where ${hasSameTarget(entry)} and state in (${sqlList(OPEN_STATES)}) and ${isBefore} order by id limit 1`;
  return selectOne(db, pickColumns(OUTBOX, 'id', 'state'), first);
}

/** Whether a row is an entry of the same operation for the same record, or with the same natural key. */
function hasSameTarget(entry: Entry): SQL {
  const isSame =
    entry.operation === 'update'
      ? sql`record_id = ${entry.recordId}`
      : sql`natural_key = ${entry.naturalKey}`;
  return sql`kind = ${entry.kind} and operation = ${entry.operation} and ${isSame}`;
}

/** Creates of a kind that may have made a record that is not found yet. */
export async function openCreates(db: Queryable, kind: string): Promise<Entry[]> {
  const open = sql`
    kind = ${kind} and operation = 'create' and attempts > 0 and state in ('sending', 'unsettled', 'parked')
    order by id`;
  return entriesWhere(db, open);
}

/** By each of these natural keys: the open entry in one of these states that has it, else the latest finished one that made a record. */
export async function entriesWithKeys(
  db: Queryable,
  kind: string,
  naturalKeys: readonly string[],
  states: readonly string[],
): Promise<ReadonlyMap<string | null, Entry>> {
  const found = new Map<string | null, Entry>();
  for (const some of inChunks(naturalKeys)) {
    const entries = sql`
      kind = ${kind} and natural_key in (${sqlList(some)}) and operation = 'create'
        and state in (${sqlList(states)}) order by case when state = 'done' then 0 else 1 end, id`;
    for (const entry of await entriesWhere(db, entries)) found.set(entry.naturalKey, entry); // The last one counts.
  }
  return found;
}

/** By its natural key in lower case, the last open create of a kind that has it. */
export async function openCreatesByKey(db: Queryable, kind: string) {
  const open = sql`where kind = ${kind} and natural_key is not null and state in (${sqlList(OPEN_STATES)}) order by id`;
  const creates = await select(db, pickColumns(OUTBOX, 'id', 'naturalKey'), open);
  return new Map(creates.map(({ id, naturalKey: key }) => [key?.toLowerCase(), { key, by: `entry ${id}` }]));
}

export type OpenCreates = Awaited<ReturnType<typeof openCreatesByKey>>;

/** Wakes the entries that waited for this one. */
export async function wakeWaiting(tx: Transaction, entry: Entry, now: Date): Promise<void> {
  await makeDue(tx, sql`${hasSameTarget(entry)} and state = 'ready' and verdict = 'waits'`, now);
}

const makeDue = (tx: Transaction, which: SQL, now: Date) =>
  tx.query(sql`update outbox set next_attempt_at = ${formatInstant(now)} where ${which}`);

/**
 * Makes the entries due that wait for a sweep of this kind, or for the service, which has just shown its list; runs in the
 * transaction that ends the sweep.
 */
export async function wakeAfterSweep(tx: Transaction, kind: string, now: Date): Promise<void> {
  await wakeSearches(tx, kind, now);
  const isWaiting = sql`verdict in ('awaits_sweep', 'unreachable')`;
  await makeDue(tx, sql`kind = ${kind} and state = 'ready' and ${isWaiting}`, now);
}

/** Makes the unsettled creates due, which search the new records of this kind. */
export async function wakeSearches(tx: Transaction, kind: string, now: Date): Promise<void> {
  await makeDue(tx, sql`kind = ${kind} and state = 'unsettled'`, now);
}

/** Ids of records that one of our requests is changing now: a list may show their old or their new content. */
export async function readSending(db: Queryable, kind: string): Promise<ReadonlySet<string>> {
  const sending = sql`
    select record_id from outbox where state = 'sending' and kind = ${kind} and record_id is not null`;
  return new Set(await readTexts(db, sending));
}

/** The ids among these that our updates have changed since an instant. */
export async function readUpdatedSince(db: Queryable, kind: string, ids: readonly string[], since: Date) {
  if (ids.length === 0) return new Set();
  const updated = sql`
    select record_id from outbox where kind = ${kind} and record_id in (${sqlList(ids)}) and state = 'done'
      and operation = 'update' and updated_at >= ${formatInstant(since)}`;
  return new Set(await readTexts(db, updated));
}

/** A kind that the service does not allow us to write, and when to try again. */
type WriteBlock = typeof WRITE_BLOCKS.$inferSelect;

export async function readBlocks(db: Queryable): Promise<WriteBlock[]> {
  return select(db, WRITE_BLOCKS, sql`order by kind`);
}

export async function readBlock(db: Queryable, kind: string): Promise<WriteBlock | null> {
  return selectOne(db, WRITE_BLOCKS, sql`where kind = ${kind}`);
}

/** Blocks a kind, or postpones the next try of a blocked one. */
export async function saveBlock(
  tx: Transaction,
  { kind, reason, now, probeAt }: { kind: string; reason: string; now: Date; probeAt: Date },
): Promise<void> {
  const block = { kind, reason, since: formatInstant(now), probeAt: formatInstant(probeAt) };
  await tx.query(sql`
    ${insertInto(WRITE_BLOCKS, block)}
    on conflict (kind) do update set reason = excluded.reason, probe_at = excluded.probe_at`);
}

/** Lets blocked kinds be tried again at once: their token, or its rights, may be others by now. */
export async function probeBlocks(tx: Transaction): Promise<void> {
  await tx.query(sql`update write_blocks set probe_at = since`);
  await tx.query(sql`
    update outbox set next_attempt_at = null where state = 'ready'
      and verdict in ('kind_blocked', 'forbidden', 'token_refused', 'awaits_sweep')`);
}

/** How many other entries of the kind are ready to be sent, except entries that wait for something else. */
export async function countOthersReady(db: Queryable, entry: Entry): Promise<number> {
  const ready = sql`kind = ${entry.kind} and id <> ${entry.id} and state = 'ready' and (verdict is null or verdict = 'kind_blocked')`;
  return (await readNumber(db, sql`select count(*) from outbox where ${ready}`)) ?? 0;
}

/** Whether an update of another record has been refused, and no write of the kind has succeeded since. */
export async function isOtherForbidden(db: Queryable, entry: Entry, now: Date): Promise<boolean> {
  const refusedOther = sql`
    select 1 from outbox where kind = ${entry.kind} and id <> ${entry.id} and state = 'ready' and verdict = 'forbidden'
      and next_attempt_at > ${formatInstant(now)} limit 1`;
  return hasRow(db, refusedOther);
}

/** The grades of writes that the service has accepted, whatever it made of them: the token may write their kind. */
export const ACCEPTED_GRADES: readonly string[] = ['done', 'made', 'not_applied'];

/** Whether the service has accepted a write of another entry of the kind since an instant. */
export async function hasWrittenOther(db: Queryable, entry: Entry, since: string): Promise<boolean> {
  const written = sql`
    select 1 from outbox as o join outbox_attempts as a on a.outbox_id = o.id
    where o.kind = ${entry.kind} and o.id <> ${entry.id} and a.grade in (${sqlList(ACCEPTED_GRADES)})
      and a.closed_at >= ${since} limit 1`;
  return hasRow(db, written);
}

/** Makes the entries due that were refused for their record alone: a write of the kind has succeeded. */
export async function wakeForbidden(tx: Transaction, kind: string, now: Date): Promise<void> {
  await makeDue(tx, sql`kind = ${kind} and state = 'ready' and verdict = 'forbidden'`, now);
}

const REFUSED = sql`state = 'ready' and verdict = 'token_refused'`;

/** How many entries wait until the service accepts the token. */
export const countRefused = async (db: Queryable): Promise<number> =>
  (await readNumber(db, sql`select count(*) from outbox where ${REFUSED}`)) ?? 0;

/** Makes the entries due that waited until the service accepts the token, to write or to read their list. */
export const wakeRefused = (tx: Transaction, now: Date) =>
  makeDue(tx, sql`state = 'ready' and verdict in ('token_refused', 'awaits_sweep')`, now);

/** Unblocks a kind, and makes the entries due that waited for it. */
export async function dropBlock(tx: Transaction, kind: string, now: Date): Promise<void> {
  const isDropped = await hasRow(tx, sql`delete from write_blocks where kind = ${kind} returning kind`);
  if (isDropped) await makeDue(tx, sql`kind = ${kind} and state = 'ready' and verdict = 'kind_blocked'`, now);
}
