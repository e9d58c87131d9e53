import { sql } from 'drizzle-orm';
import { readAttempts } from './attempt-store.ts';
import type { Attempt } from './attempt-store.ts';
import { endedEntryOf } from './ended-entries.ts';
import type { EndedEntry } from './ended-entries.ts';
import { entryOf } from './outbox-store.ts';
import type { Entry } from './outbox-store.ts';
import type { Queryable } from '../session/session.ts';

/** An entry with all its attempts, the first one first. */
export interface TriedEntry {
  readonly entry: Entry;
  readonly attempts: readonly Attempt[];
}

/** All entries of the outbox that concern a record, oldest first. */
export async function entriesOfRecord(db: Queryable, kind: string, id: string): Promise<TriedEntry[]> {
  const rows = await db.query(
    sql`select * from outbox where kind = ${kind} and record_id = ${id} order by id`,
  );
  const tried: TriedEntry[] = [];
  for (const entry of rows.map(entryOf)) tried.push({ entry, attempts: await readAttempts(db, entry.id) });
  return tried;
}

/** Entries of a record of which only the keys are kept, oldest first. */
export async function endedEntriesOfRecord(db: Queryable, kind: string, id: string): Promise<EndedEntry[]> {
  const rows = await db.query(sql`
    select * from outbox_keys where kind = ${kind} and record_id = ${id} order by outbox_id`);
  return rows.map(endedEntryOf);
}
