import { sql } from 'drizzle-orm';
import type { ChangeEvent } from '../../diff/compare-page.ts';
import { formatInstant, parseInstant } from '../../lib/time/clock.ts';
import { writeMeta } from '../kinds/meta.ts';
import { mirrorInstant } from '../kinds/mirror-clock.ts';
import { deleteEndedLinks } from '../outbox/attempts-and-links.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { CHANGES } from '../tables/change-tables.ts';
import {
  hasRow,
  insertRows,
  orNull,
  pickColumns,
  readInChunks,
  readNumber,
  readRow,
  select,
  selectOne,
} from '../../db/rows/rows.ts';

export interface NewChanges {
  readonly kind: string;
  readonly events: readonly ChangeEvent[];
  /** `service`, or `outbox:<id>` for our own writes. */
  readonly origin: string;
  readonly runId: number | null;
  readonly now: Date;
}

/**
 * Appends change events in the transaction that writes their rows. A session's transactions are the only writers while they
 * last (`postgres/transaction.ts`), so that `seq` rises in the order of commits: a reader who has read up to n never later
 * finds a row ≤ n. `observed_at` never goes back, even if the clock does.
 */
export async function appendChanges(tx: Transaction, changes: NewChanges): Promise<void> {
  if (changes.events.length === 0) return;
  const at = await mirrorInstant(tx, changes.now);
  const rows = changes.events.map((event) => {
    // If the clock was set back in between, the interval is empty rather than reversed.
    const observedFrom = event.observedFrom !== null && event.observedFrom > at ? at : event.observedFrom;
    return {
      ...event,
      kind: changes.kind,
      observedFrom,
      observedAt: at,
      origin: changes.origin,
      runId: changes.runId,
    };
  });
  await insertRows(tx, CHANGES, rows);
  await tx.write(sql`update kind_state set last_change_at = ${at} where kind = ${changes.kind}`);
}

/** The events of a record since an instant, in short. */
export interface RecordPast {
  /** As JSON text, before the first of these events; null = it was not there, or not known. */
  readonly before: string | null;
  /** It was deleted, or its id came back from a deletion: the id may belong to another record. */
  readonly isReplaced: boolean;
}

/** Reads the pasts of these records since an instant; a record without an event is absent from the map. */
export async function readPasts(db: Queryable, kind: string, ids: readonly string[], since: string) {
  const pasts = new Map<string, RecordPast>();
  const columns = pickColumns(CHANGES, 'recordId', 'change', 'before');
  const events = await readInChunks(ids, (some) => {
    const which = sql`where kind = ${kind} and record_id in (${some}) and observed_at >= ${since} order by seq`;
    return select(db, columns, which);
  });
  for (const { recordId, change, before } of events) {
    const known = pasts.get(recordId) ?? { before, isReplaced: false };
    const isReplaced = known.isReplaced || change === 'deleted' || change === 'restored';
    pasts.set(recordId, { ...known, isReplaced });
  }
  return pasts;
}

/** The `seq` of the latest event; 0 where there is none. */
export async function latestSeq(db: Queryable): Promise<number> {
  return (await readNumber(db, sql`select max(seq) from changes`)) ?? 0;
}

/** A condition of change events: no active endpoint still has to be sent them. */
const isSentEverywhere = sql`
  seq <= coalesce((select min(cursor) from webhook_endpoints where state = 'active' and format = 'json'), seq)
  and seq < coalesce((select min(d.seq) from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
    where e.state = 'active' and d.state in ('ready', 'waiting')), seq + 1)`;

/** Removes old events that no webhook waits for. The latest stays, because the next `seq` and `observed_at` follow from it. */
export async function pruneChanges(tx: Transaction, oldest: Date): Promise<void> {
  const isOld = sql`
    observed_at < ${formatInstant(oldest)} and seq < (select max(seq) from changes) and ${isSentEverywhere}`;
  if (!(await hasRow(tx, sql`select 1 from changes where ${isOld} limit 1`))) return;
  await deleteEndedLinks(tx); // Nothing would show any more that a later record under the id is another one.
  await tx.query(sql`delete from changes where ${isOld}`);
  const first = (await readNumber(tx, sql`select min(seq) from changes`)) ?? 1;
  await writeMeta(tx, 'changes.removed_up_to', String(first - 1));
  await writeMeta(tx, 'changes.forgotten_before', formatInstant(oldest));
}

/**
 * The `seq` of the first event at or after an instant; one more than the latest where there is none. Found by bisection:
 * `observed_at` never falls as `seq` rises.
 */
export async function firstSeqSince(db: Queryable, instant: string): Promise<number> {
  const range = sql`select min(seq) as first, max(seq) as last from changes`;
  const row = await readRow(db, { first: orNull(Number), last: orNull(Number) }, range);
  let low = row?.first ?? 1;
  let high = (row?.last ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const from = sql`where seq >= ${middle} order by seq limit 1`;
    const event = await selectOne(db, pickColumns(CHANGES, 'seq', 'observedAt'), from);
    if (event !== null && formatInstant(parseInstant(event.observedAt)) < instant) low = event.seq + 1;
    else high = middle;
  }
  return low;
}
