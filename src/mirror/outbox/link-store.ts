import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import type { Queryable, Session, Transaction } from '../session/session.ts';

interface Link {
  readonly kind: string;
  readonly recordId: string;
  readonly outboxId: number;
}

/** Notes which record an entry created; false where another entry has that record already. */
export async function saveLink(
  tx: Transaction,
  { kind, recordId, outboxId }: Link,
  now: Date,
): Promise<boolean> {
  if ((await endedMaker(tx, kind, recordId)) !== null) return false;
  const linked = await tx.query(sql`
    insert into links (kind, record_id, outbox_id, linked_at)
    values (${kind}, ${recordId}, ${outboxId}, ${instantText(now)}) on conflict do nothing returning outbox_id`);
  return linked.length > 0;
}

/** The entry that created a record, or null. */
export async function linkedEntry(db: Queryable, kind: string, recordId: string): Promise<number | null> {
  const [row] = await db.query(
    sql`select outbox_id from links where kind = ${kind} and record_id = ${recordId}`,
  );
  return row === undefined ? endedMaker(db, kind, recordId) : Number(row['outbox_id']);
}

/** The entry that created a record, if only the entry's key is still kept. */
async function endedMaker(db: Queryable, kind: string, recordId: string): Promise<number | null> {
  const [row] = await db.query(sql`
    select outbox_id from outbox_keys
    where kind = ${kind} and record_id = ${recordId} and operation = 'create' and state = 'done'`);
  return row === undefined ? null : Number(row['outbox_id']);
}

/**
 * The highest entry number in a link above all entries of the outbox. Null if there is none: the outbox is then not older
 * than the links.
 */
export async function highestForeignLink(db: Queryable): Promise<number | null> {
  const [row] = await db.query(sql`
    select max(outbox_id) as highest from links
    where outbox_id > (select coalesce(max(id), 0) from outbox)
      and outbox_id > (select coalesce(max(outbox_id), 0) from outbox_keys)`);
  const highest = row?.['highest'] ?? null;
  return highest === null ? null : Number(highest);
}

/** Makes new entries' numbers start above a link's, so that none reuses the number of an entry that the outbox has lost. */
export async function numberBeyond(
  tx: Transaction,
  dialect: Session['dialect'],
  highest: number,
): Promise<void> {
  if (dialect === 'postgres') {
    await tx.query(sql`select setval(pg_get_serial_sequence('outbox', 'id'), ${highest})`);
    return;
  }
  await tx.query(sql`delete from sqlite_sequence where name = 'outbox'`);
  await tx.query(sql`insert into sqlite_sequence (name, seq) values ('outbox', ${highest})`);
}
