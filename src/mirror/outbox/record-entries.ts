import { sql } from 'drizzle-orm';
import type { Queryable } from '../session/session.ts';
import { readAttempts } from './attempt-store.ts';
import type { Attempt } from './attempt-store.ts';
import { readEntries } from './outbox-store.ts';
import type { Entry } from './outbox-store.ts';

/** An entry with all its attempts, the first one first. */
export interface TriedEntry {
  readonly entry: Entry;
  readonly attempts: readonly Attempt[];
}

/** All entries of the outbox that concern a record, oldest first. */
export async function entriesOfRecord(db: Queryable, kind: string, id: string): Promise<TriedEntry[]> {
  const own = sql`select * from outbox where kind = ${kind} and record_id = ${id} order by id`;
  const tried: TriedEntry[] = [];
  for (const entry of await readEntries(db, own))
    tried.push({ entry, attempts: await readAttempts(db, entry.id) });
  return tried;
}
