import { sql } from 'drizzle-orm';
import type { ChangeEvent } from '../../diff/change-event.ts';
import type { ChangedFields } from '../../diff/field-drift.ts';
import { instantText } from '../../lib/time/clock.ts';
import { parseJson } from '../../lib/json/json.ts';
import { writeMeta } from '../kinds/meta.ts';
import { isSentEverywhere } from '../webhooks/delivery-queue.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { CHANGES } from '../tables/change-tables.ts';
import { append, hasRow, pick, readTexts, select } from '../tables/rows.ts';

export interface NewChanges {
  readonly kind: string;
  readonly events: readonly ChangeEvent[];
  /** `service`, or `outbox:<id>` for our own writes. */
  readonly origin: string;
  readonly runId: number | null;
  readonly now: Date;
}

/**
 * Appends change events in the transaction that writes their rows.
 *
 * A session's transactions are the only writers while they last (`postgres/transaction.ts`), so that `seq` rises in the order of
 * commits: a reader who has read up to n never later finds a row ≤ n. `observed_at` never goes back, even if the clock does.
 */
export async function appendChanges(
  tx: Transaction,
  { kind, events, origin, runId, now }: NewChanges,
): Promise<void> {
  if (events.length === 0) return;
  const at = await notBefore(tx, instantText(now));
  await append(
    tx,
    CHANGES,
    events.map((event) => ({
      ...event,
      kind,
      observedFrom: notAfter(event.observedFrom, at),
      observedAt: at,
      origin,
      runId,
    })),
  );
}

/** The clock may have been set back since the last event. */
async function notBefore(db: Queryable, now: string): Promise<string> {
  const [latest = ''] = await readTexts(db, sql`select observed_at from changes order by seq desc limit 1`);
  return latest > now ? latest : now;
}

/** If the clock was set back in between, the interval is empty rather than reversed. */
function notAfter(observedFrom: string | null, at: string): string | null {
  return observedFrom !== null && observedFrom > at ? at : observedFrom;
}

/** Removes old events that no webhook waits for. The latest stays, because the next `seq` and `observed_at` follow from it. */
export async function pruneChanges(tx: Transaction, oldest: Date): Promise<void> {
  const isOld = sql`
    observed_at < ${instantText(oldest)} and seq < (select max(seq) from changes) and ${isSentEverywhere}`;
  if (!(await hasRow(tx, sql`select 1 from changes where ${isOld} limit 1`))) return;
  await tx.query(sql`delete from changes where ${isOld}`);
  await writeMeta(tx, 'changes.forgotten_before', instantText(oldest));
}

const LATEST_EVENTS = 10_000;

/** Some of the records that the latest run found updated. */
export async function updatedRecords(
  db: Queryable,
  { kind, runId, limit }: { readonly kind: string; readonly runId: number; readonly limit: number },
): Promise<string[]> {
  const updated = sql`
    select record_id from changes
    where seq > (select coalesce(max(seq), 0) - ${LATEST_EVENTS} from changes)
      and kind = ${kind} and run_id = ${runId} and change = 'updated'
    order by seq desc limit ${limit}`;
  return [...new Set(await readTexts(db, updated))];
}

/** Longer texts of changes are skipped: a change of very many fields at once tells nothing about a single field. */
const LONGEST_LOOKED_INTO = 200_000;

/** The changed fields of a record's latest updates, oldest first; updates of very many fields are left out. */
export async function readUpdates(
  db: Queryable,
  { kind, id, limit }: { readonly kind: string; readonly id: string; readonly limit: number },
): Promise<ChangedFields[]> {
  const updates = sql`
    where kind = ${kind} and record_id = ${id} and change = 'updated'
      and length(fields) < ${LONGEST_LOOKED_INTO}
    order by observed_at desc, seq desc limit ${limit}`;
  const rows = await select(db, pick(CHANGES, 'fields'), updates);
  return rows.map(({ fields }) => parseJson(fields) as ChangedFields).reverse();
}
