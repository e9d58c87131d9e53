import { sql } from 'drizzle-orm';
import type { ChangeEvent } from '../../diff/judge-page.ts';
import { instantText, instantOf } from '../../lib/time/clock.ts';
import { writeMeta } from '../kinds/meta.ts';
import { isSentEverywhere } from '../webhooks/delivery-queue.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { CHANGES } from '../tables/change-tables.ts';
import { append, hasRow, pick, readTexts, readNumber, readRow, selectOne } from '../../db/rows/rows.ts';
import { optionalBigint } from '../../db/rows/engine-column.ts';

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

/** The `seq` of the latest event; 0 where there is none. */
export async function latestSeq(db: Queryable): Promise<number> {
  return (await readNumber(db, sql`select max(seq) from changes`)) ?? 0;
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

interface EventRange {
  readonly first: number;
  readonly last: number;
}

async function readRange(db: Queryable): Promise<EventRange | null> {
  const range = sql`select min(seq) as first, max(seq) as last from changes`;
  const row = await readRow(db, [optionalBigint('first'), optionalBigint('last')], range);
  return row === null || row.first === null || row.last === null
    ? null
    : { first: row.first, last: row.last };
}

/** The `seq` of the first event at or after an instant; one more than the latest where there is none. */
export async function firstSeqSince(db: Queryable, instant: string): Promise<number> {
  const range = await readRange(db);
  return range === null ? 1 : firstWithin(db, range, instant);
}

/** Finds the first event at or after an instant by bisection: `observed_at` never falls as `seq` rises. */
async function firstWithin(db: Queryable, { first, last }: EventRange, instant: string): Promise<number> {
  let low = first;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const event = await eventFrom(db, middle);
    if (event !== null && instantText(event.at) < instant) low = event.seq + 1;
    else high = middle;
  }
  return low;
}

async function eventFrom(
  db: Queryable,
  seq: number,
): Promise<{ readonly seq: number; readonly at: Date } | null> {
  const row = await selectOne(
    db,
    pick(CHANGES, 'seq', 'observed_at'),
    sql`where seq >= ${seq} order by seq limit 1`,
  );
  return row === null ? null : { seq: row.seq, at: instantOf(row.observedAt) };
}
