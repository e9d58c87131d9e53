import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { LINKS, OUTBOX_ATTEMPTS } from '../tables/outbox-tables.ts';
import {
  assignments,
  hasRow,
  insertInto,
  insertRows,
  omitColumns,
  pickColumns,
  readNumber,
  readTexts,
  select,
  type RowOf,
} from '../../db/rows/rows.ts';
import { entriesWhere, type Entry } from './outbox-store.ts';

const OF_ENTRY = omitColumns(OUTBOX_ATTEMPTS, 'outboxId');

/** A request that may have changed the service. It is open from before the send until its answer is stored. */
export type Attempt = RowOf<typeof OF_ENTRY>;

export async function openAttempt(
  tx: Transaction,
  { now, ...opened }: { outboxId: number; n: number; request: string; now: Date },
): Promise<void> {
  await insertRows(tx, OUTBOX_ATTEMPTS, [{ ...opened, openedAt: formatInstant(now) }]);
}

export interface ClosedAttempt extends Pick<Attempt, 'n' | 'status' | 'responseStart'> {
  readonly outboxId: number;
  readonly grade: string;
  readonly now: Date;
}

/** Stores the result of an attempt; a closed attempt stays as it is. */
export async function closeAttempt(tx: Transaction, closed: ClosedAttempt): Promise<void> {
  const { outboxId, n, grade, status, responseStart, now } = closed;
  await tx.query(sql`
    update outbox_attempts
    set ${assignments(OUTBOX_ATTEMPTS, { closedAt: formatInstant(now), grade, status, responseStart })}
    where outbox_id = ${outboxId} and n = ${n} and closed_at is null`);
}

/** All attempts of an entry, the first one first. */
export async function readAttempts(db: Queryable, outboxId: number): Promise<Attempt[]> {
  return select(db, OF_ENTRY, sql`where outbox_id = ${outboxId} order by n`);
}

/** When the longest-waiting unsettled entry was last sent; null if none is unsettled. */
export async function oldestUnsettledSend(db: Queryable): Promise<string | null> {
  const oldest = sql`
    select min(coalesce(
      (select max(opened_at) from outbox_attempts where outbox_id = outbox.id), outbox.created_at))
    from outbox where state = 'unsettled'`;
  const [sentAt = null] = await readTexts(db, oldest);
  return sentAt;
}

export type EntryWithAttempts = Awaited<ReturnType<typeof entriesOfRecord>>[number];

/** All entries of the outbox that concern a record, oldest first, each with all its attempts. */
export async function entriesOfRecord(db: Queryable, kind: string, id: string) {
  const entries: { readonly entry: Entry; readonly attempts: readonly Attempt[] }[] = [];
  for (const entry of await entriesWhere(db, sql`kind = ${kind} and record_id = ${id} order by id`))
    entries.push({ entry, attempts: await readAttempts(db, entry.id) });
  return entries;
}

const ANSWERED = pickColumns(LINKS, 'recordId', 'linkedAt');

/** The records that answers to our creates of a kind named from an instant to another one, not those that were found later. */
export const answeredCreates = (db: Queryable, kind: string, from: SQL, to: string) =>
  select(
    db,
    ANSWERED,
    sql`where kind = ${kind} and linked_at >= ${from} and linked_at < ${to} and exists (
      select 1 from outbox_attempts as a where a.outbox_id = links.outbox_id and a.grade = 'done')`,
  );

/** Notes which record an entry created; false where another entry has that record already, and it is still the same one. */
export async function saveLink(
  tx: Transaction,
  link: Omit<typeof LINKS.$inferSelect, 'linkedAt'>,
  now: Date,
) {
  if ((await findArchivedCreator(tx, link.kind, link.recordId)) !== null) return false;
  await tx.query(sql`
    delete from links as l where l.kind = ${link.kind} and l.record_id = ${link.recordId}
      and ${wasDeletedSince(sql`l.linked_at`)}`);
  const insert = insertInto(LINKS, { ...link, linkedAt: formatInstant(now) });
  return hasRow(tx, sql`${insert} on conflict do nothing returning outbox_id`);
}

/** Gives a record to another entry: the service has used its id again. */
export async function moveLink(
  tx: Transaction,
  { kind, recordId, outboxId }: Omit<typeof LINKS.$inferSelect, 'linkedAt'>,
  now: Date,
): Promise<void> {
  await tx.query(sql`
    update links set ${assignments(LINKS, { outboxId, linkedAt: formatInstant(now) })}
    where kind = ${kind} and record_id = ${recordId}`);
}

/** Deletes the links whose records have been deleted since. */
export async function deleteEndedLinks(tx: Transaction): Promise<void> {
  await tx.query(sql`delete from links as l where ${wasDeletedSince(sql`l.linked_at`)}`);
}

/** Whether the record of a row `l` was deleted after an instant: its id then belongs to another record, or to none. */
export const wasDeletedSince = (instant: SQL): SQL => sql`exists (
  select 1 from changes as c where c.kind = l.kind and c.record_id = l.record_id and c.change = 'deleted'
    and c.observed_at >= ${instant})`;

/**
 * Records that answers to our creates had named by an instant, and that no list has ever shown: a list that hides them may hide
 * others. That such a record cannot be read either does not prove that it was deleted: it may wait for an approval.
 */
export async function unlistedLinks(db: Queryable, kind: string, at: string): Promise<string[]> {
  const unlisted = sql`
    select l.record_id from links as l left join ${sql.identifier(kind)} as k on k.id = cast(l.record_id as bigint)
    where l.kind = ${kind} and l.linked_at < ${at} and k._listed is null
      and not exists (select 1 from erasures as e where e.kind = l.kind and e.record_id = l.record_id)
    order by l.linked_at limit 20`;
  return readTexts(db, unlisted);
}

/** Counts records that answers to our creates named and that never became a row: none could be retrieved. */
export async function countMissingRows(db: Queryable, kind: string): Promise<number> {
  const missingRows = sql`
    select count(*) from links as l where l.kind = ${kind} and not ${wasDeletedSince(sql`l.linked_at`)}
      and not exists (select 1 from ${sql.identifier(kind)} as k where k.id = cast(l.record_id as bigint))
      and not exists (select 1 from erasures as e where e.kind = l.kind and e.record_id = l.record_id)`;
  return (await readNumber(db, missingRows)) ?? 0;
}

export async function findCreator(db: Queryable, kind: string, recordId: string): Promise<number | null> {
  const link = sql`select outbox_id from links where kind = ${kind} and record_id = ${recordId}`;
  return (await readNumber(db, link)) ?? findArchivedCreator(db, kind, recordId);
}

/** The entry that created a record, if only the entry's key is still kept. */
async function findArchivedCreator(db: Queryable, kind: string, recordId: string): Promise<number | null> {
  const made = sql`
    select outbox_id from outbox_keys as l
    where kind = ${kind} and record_id = ${recordId} and operation = 'create' and state = 'done'
      and not ${wasDeletedSince(sql`l.ended_at`)}`;
  return readNumber(db, made);
}

/**
 * The highest entry number in a link above all entries of the outbox. Null if there is none: the outbox is then not older
 * than the links.
 */
export async function findHighestUnknownLink(db: Queryable): Promise<number | null> {
  return readNumber(db, sql`select max(outbox_id) from links ${BEYOND_OUTBOX}`);
}

const BEYOND_OUTBOX = sql`
  where outbox_id > (select coalesce(max(id), 0) from outbox)
    and outbox_id > (select coalesce(max(outbox_id), 0) from outbox_keys)`;

/** Names the first thousand records that such links name, above an entry number: as many as the counter of sends notes. */
export async function describeUnknownLinks(db: Queryable, after: number): Promise<string[]> {
  const links = sql`${BEYOND_OUTBOX} and outbox_id > ${after} order by outbox_id limit 1000`;
  return (await select(db, LINKS, links)).map(
    ({ kind, recordId, outboxId, linkedAt }) =>
      `create of ${kind} ${recordId} by entry ${outboxId}, ${linkedAt} UTC`,
  );
}

/** Makes new entries' numbers start above a link's, so that none reuses the number of an entry that the outbox has lost. */
export async function skipEntryIds(tx: Transaction, highest: number): Promise<void> {
  if (tx.dialect === 'postgres')
    await tx.query(sql`select setval(pg_get_serial_sequence('outbox', 'id'), ${highest})`);
  else {
    await tx.query(sql`delete from sqlite_sequence where name = 'outbox'`);
    await tx.query(sql`insert into sqlite_sequence (name, seq) values ('outbox', ${highest})`);
  }
}
