import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import type { Queryable, Transaction } from '../session/session.ts';

/** A request that may have changed the service. It is open from before the send until its answer is stored. */
export interface Attempt {
  readonly n: number;
  readonly openedAt: string;
  readonly closedAt: string | null;
  readonly grade: string | null;
  readonly status: number | null;
  /** Method, path and body. */
  readonly request: string;
  /** The beginning of the answer. */
  readonly responseStart: string | null;
}

interface OpenAttempt {
  readonly outboxId: number;
  readonly n: number;
  readonly request: string;
  readonly now: Date;
}

export async function openAttempt(
  tx: Transaction,
  { outboxId, n, request, now }: OpenAttempt,
): Promise<void> {
  await tx.append({
    table: 'outbox_attempts',
    columns: ['outbox_id', 'n', 'opened_at', 'request'],
    rows: [[outboxId, n, instantText(now), request]],
  });
}

export interface ClosedAttempt {
  readonly outboxId: number;
  readonly n: number;
  readonly grade: string;
  readonly status: number | null;
  readonly responseStart: string | null;
  readonly now: Date;
}

/** Stores the result of an attempt; a closed attempt stays as it is. */
export async function closeAttempt(tx: Transaction, closed: ClosedAttempt): Promise<void> {
  const { outboxId, n, grade, status, responseStart, now } = closed;
  await tx.query(sql`
    update outbox_attempts
    set closed_at = ${instantText(now)}, grade = ${grade}, status = ${status}, response_start = ${responseStart}
    where outbox_id = ${outboxId} and n = ${n} and closed_at is null`);
}

/** All attempts of an entry, the first one first. */
export async function readAttempts(db: Queryable, outboxId: number): Promise<Attempt[]> {
  const rows = await db.query(sql`select * from outbox_attempts where outbox_id = ${outboxId} order by n`);
  return rows.map((row) => ({
    n: Number(row['n']),
    openedAt: String(row['opened_at']),
    closedAt: row['closed_at'] === null ? null : String(row['closed_at']),
    grade: row['grade'] === null ? null : String(row['grade']),
    status: row['status'] === null ? null : Number(row['status']),
    request: String(row['request']),
    responseStart: row['response_start'] === null ? null : String(row['response_start']),
  }));
}

/** When the longest-waiting unsettled entry was last sent; null if none is unsettled. */
export async function oldestUnsettledSend(db: Queryable): Promise<string | null> {
  const [row] = await db.query(sql`
    select min(coalesce(
      (select max(opened_at) from outbox_attempts where outbox_id = outbox.id), outbox.created_at)) as sent_at
    from outbox where state = 'unsettled'`);
  return typeof row?.['sent_at'] === 'string' ? row['sent_at'] : null;
}
