import { createHash } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import { canonicalJson, parseJson } from '../../lib/json/json.ts';
import { OPEN_STATES, entriesWhere, type Entry } from './outbox-store.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { OUTBOX_KEYS } from '../tables/outbox-tables.ts';
import { insertInto, readInChunks, select } from '../../db/rows/rows.ts';
import { sqlList } from '../../db/session/sql-list.ts';

/** An entry of the outbox whose contents were removed after `retention.outboxDays`; its key is taken for ever. */
export type EndedEntry = Awaited<ReturnType<typeof readEnded>>[number];

/** Finds the ended entries with these idempotency keys. */
export const findEndedByKeys = (db: Queryable, keys: readonly string[]): Promise<EndedEntry[]> =>
  readInChunks(keys, (some) => readEnded(db, sql`where idempotency_key in (${some})`));

export async function findEnded(db: Queryable, id: number): Promise<EndedEntry | null> {
  return (await readEnded(db, sql`where outbox_id = ${id}`))[0] ?? null;
}

/** Ended entries of a record, oldest first. */
export async function endedEntriesOf(db: Queryable, kind: string, recordId: string): Promise<EndedEntry[]> {
  return readEnded(db, sql`where kind = ${kind} and record_id = ${recordId} order by outbox_id`);
}

async function readEnded(db: Queryable, rest: SQL) {
  const rows = await select(db, OUTBOX_KEYS, rest);
  return rows.map(({ outboxId: id, idempotencyKey: key, endedAt: updatedAt, ...ended }) => {
    return { id, key, updatedAt, ...ended };
  });
}

const ENTRIES_A_TRANSACTION = 500;

/**
 * Replaces entries that ended before `oldest` by their keys, a few hundred a transaction. An entry stays while a
 * later entry of its record is open: a merge reads it.
 */
export async function archiveEndedEntries(session: Session, oldest: Date): Promise<void> {
  const some = sql`
    state in ('done', 'rejected', 'abandoned') and updated_at < ${formatInstant(oldest)}
      and not exists (
        select 1 from outbox later where later.kind = outbox.kind and later.record_id = outbox.record_id
          and later.state in (${sqlList(OPEN_STATES)}))
    order by id limit ${ENTRIES_A_TRANSACTION}`;
  const archiveSome = async (tx: Transaction): Promise<number> => {
    const entries = await entriesWhere(tx, some);
    if (entries.length === 0) return 0;
    const ids = sqlList(entries.map((entry) => entry.id));
    await tx.query(sql`${insertInto(OUTBOX_KEYS, ...entries.map(keyRow))} on conflict do nothing`); // Another process may archive them, too.
    await tx.query(sql`delete from links where outbox_id in (${ids})`);
    await tx.query(sql`delete from outbox_attempts where outbox_id in (${ids})`);
    await tx.query(sql`delete from outbox where id in (${ids})`);
    return entries.length;
  };
  for (let ended = ENTRIES_A_TRANSACTION; ended === ENTRIES_A_TRANSACTION;)
    ended = await session.atomically(archiveSome);
}

function keyRow(entry: Entry): typeof OUTBOX_KEYS.$inferSelect {
  const { id: outboxId, key: idempotencyKey, kind, operation, recordId, updatedAt: endedAt } = entry;
  const state = entry.state === 'done' || entry.state === 'rejected' ? entry.state : 'abandoned';
  const hashes = { requestHash: requestHash(entry), baseHash: baseHash(entry.base) };
  return { idempotencyKey, outboxId, kind, operation, recordId, state, ...hashes, endedAt };
}

/** Hashes the change that an entry requests; equal hashes mean the same change. */
export function requestHash(entry: Pick<Entry, 'kind' | 'operation' | 'recordId' | 'payload'>): string {
  const { kind, operation, payload } = entry;
  const record = operation === 'update' ? entry.recordId : null; // A create has its record's id only once it is done.
  return hash(JSON.stringify([kind, operation, record, canonical(payload)]));
}

/** Hashes the base of an update; null if there is none. */
export const baseHash = (base: string | null): string | null =>
  base === null ? null : hash(canonical(base));

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** An application may have stored text by SQL that is not JSON: it is compared as text. */
function canonical(text: string): string {
  try {
    return canonicalJson(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return text;
    throw error;
  }
}
