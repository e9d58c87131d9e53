import { sql } from 'drizzle-orm';
import { LISTED_KINDS } from '../../src/catalog/catalog.ts';
import { readEntries } from '../../src/mirror/outbox/outbox-store.ts';
import type { Entry } from '../../src/mirror/outbox/outbox-store.ts';
import { adoptRecord, retryEntry } from '../../src/outbound/decisions/decide.ts';
import type { Stage } from './stage.ts';

export async function entriesOf({ session, intents }: Stage): Promise<Entry[]> {
  const entries = await readEntries(session, sql`select * from outbox order by id`);
  return entries.filter(({ id }) => intents.has(id));
}

/** A person who knows the truth decides about creates that cannot go on. */
export async function decide(stage: Stage): Promise<void> {
  for (const entry of await entriesOf(stage)) {
    const { operation, state } = entry;
    if (operation !== 'create') continue;
    if (state === 'rejected') await retry(stage, entry);
    if (state === 'parked') await decideParked(stage, entry);
  }
}

async function decideParked(stage: Stage, entry: Entry): Promise<void> {
  const { sends, services } = stage;
  const recordId = sends.find((send) => send.entry === entry.id && send.committed)?.committed?.id;
  if (recordId === undefined) return retry(stage, entry);
  const world = services.find(({ name }) => name === entry.kind)?.world;
  if (world?.content(recordId) !== undefined) await give(stage, entry, recordId);
}

async function retry({ session, timeline, say, wakeUp }: Stage, { id }: Entry): Promise<void> {
  await retryEntry(session, id, timeline.clock.now());
  say(`! a person retries entry ${id}`);
  wakeUp.wake();
}

/** Only what the mirror has can be given; who finds that it has not reads the list first, and comes back. */
async function give(stage: Stage, { id, kind }: Entry, recordId: string): Promise<void> {
  const { session, timeline, say, wakeUp } = stage;
  const rows = await session.query(sql`
    select 1 from ${sql.identifier(kind)} where cast(id as text) = ${recordId} and _deleted_at is null`);
  if (rows.length === 0) return;
  await adoptRecord(session, { kinds: LISTED_KINDS, id, recordId, now: timeline.clock.now() });
  say(`! a person gives ${recordId} to entry ${id}`);
  wakeUp.wake();
}
