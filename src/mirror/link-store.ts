import { sql } from 'drizzle-orm';
import { instantText } from '../lib/clock.ts';
import type { Queryable, Transaction } from './session.ts';

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
  return row === undefined ? null : Number(row['outbox_id']);
}

/** Whether the mirror knows of creations that its outbox does not: then the outbox is the older of the two. */
export async function hasForeignLinks(db: Queryable): Promise<boolean> {
  const newer = await db.query(sql`
    select 1 from links where outbox_id > (select coalesce(max(id), 0) from outbox) limit 1`);
  return newer.length > 0;
}
