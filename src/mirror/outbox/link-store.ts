import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable, Session, Transaction } from '../session/session.ts';
import { LINKS } from '../tables/outbox-tables.ts';
import { hasRow, insertInto, readNumber } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

/** Notes which record an entry created; false where another entry has that record already. */
export async function saveLink(
  tx: Transaction,
  link: Omit<RowOf<typeof LINKS>, 'linkedAt'>,
  now: Date,
): Promise<boolean> {
  if ((await endedMaker(tx, link.kind, link.recordId)) !== null) return false;
  const insert = insertInto(LINKS, { ...link, linkedAt: instantText(now) });
  return hasRow(tx, sql`${insert} on conflict do nothing returning outbox_id`);
}

/** The entry that created a record, or null. */
export async function linkedEntry(db: Queryable, kind: string, recordId: string): Promise<number | null> {
  const link = sql`select outbox_id from links where kind = ${kind} and record_id = ${recordId}`;
  return (await readNumber(db, link)) ?? endedMaker(db, kind, recordId);
}

/** The entry that created a record, if only the entry's key is still kept. */
async function endedMaker(db: Queryable, kind: string, recordId: string): Promise<number | null> {
  const made = sql`
    select outbox_id from outbox_keys
    where kind = ${kind} and record_id = ${recordId} and operation = 'create' and state = 'done'`;
  return readNumber(db, made);
}

/**
 * The highest entry number in a link above all entries of the outbox. Null if there is none: the outbox is then not older
 * than the links.
 */
export async function highestForeignLink(db: Queryable): Promise<number | null> {
  const highest = sql`
    select max(outbox_id) from links
    where outbox_id > (select coalesce(max(id), 0) from outbox)
      and outbox_id > (select coalesce(max(outbox_id), 0) from outbox_keys)`;
  return readNumber(db, highest);
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
