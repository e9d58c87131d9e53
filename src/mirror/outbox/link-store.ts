import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import type { Queryable, Session, Transaction } from '../session/session.ts';

export interface Link {
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

/** The entry that created a record; null where none of ours did. */
export async function linkedEntry(db: Queryable, kind: string, recordId: string): Promise<number | null> {
  const [row] = await db.query(
    sql`select outbox_id from links where kind = ${kind} and record_id = ${recordId}`,
  );
  return row === undefined ? endedMaker(db, kind, recordId) : Number(row['outbox_id']);
}

/** The entry that created a record so long ago that only its key is kept. */
async function endedMaker(db: Queryable, kind: string, recordId: string): Promise<number | null> {
  const [row] = await db.query(sql`
    select outbox_id from outbox_keys
    where kind = ${kind} and record_id = ${recordId} and operation = 'create' and state = 'done'`);
  return row === undefined ? null : Number(row['outbox_id']);
}

/** The highest entry that a link names beyond the outbox's own; null where there is none: then the outbox is no older. */
export async function highestForeignLink(db: Queryable): Promise<number | null> {
  const [row] = await db.query(sql`
    select max(outbox_id) as highest from links
    where outbox_id > (select coalesce(max(id), 0) from outbox)
      and outbox_id > (select coalesce(max(outbox_id), 0) from outbox_keys)`);
  const highest = row?.['highest'] ?? null;
  return highest === null ? null : Number(highest);
}

/** Numbers new entries from beyond a link, so that none takes the place of one that the outbox has forgotten. */
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
