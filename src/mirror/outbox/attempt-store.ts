import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { OUTBOX_ATTEMPTS } from '../tables/outbox-tables.ts';
import { append, assign, readTexts, select, without } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

const OF_ENTRY = without(OUTBOX_ATTEMPTS, 'outbox_id');

/** A request that may have changed the service. It is open from before the send until its answer is stored. */
export type Attempt = RowOf<typeof OF_ENTRY>;

interface OpenAttempt extends Pick<Attempt, 'n' | 'request'> {
  readonly outboxId: number;
  readonly now: Date;
}

export async function openAttempt(
  tx: Transaction,
  { outboxId, n, request, now }: OpenAttempt,
): Promise<void> {
  await append(tx, OUTBOX_ATTEMPTS, [{ outboxId, n, openedAt: instantText(now), request }]);
}

export interface ClosedAttempt extends Pick<Attempt, 'n' | 'status' | 'responseStart'> {
  readonly outboxId: number;
  readonly grade: string;
  readonly now: Date;
}

/** Stores the result of an attempt; a closed attempt stays as it is. */
export async function closeAttempt(tx: Transaction, closed: ClosedAttempt): Promise<void> {
  const { outboxId, n, grade, status, responseStart, now } = closed;
  await tx.query(sql`
    update outbox_attempts
    set ${assign(OUTBOX_ATTEMPTS, { closedAt: instantText(now), grade, status, responseStart })}
    where outbox_id = ${outboxId} and n = ${n} and closed_at is null`);
}

/** All attempts of an entry, the first one first. */
export async function readAttempts(db: Queryable, outboxId: number): Promise<Attempt[]> {
  return select(db, OF_ENTRY, sql`where outbox_id = ${outboxId} order by n`);
}

/** When the longest-waiting unsettled entry was last sent; null if none is unsettled. */
export async function oldestUnsettledSend(db: Queryable): Promise<string | null> {
  const oldest = sql`
    select min(coalesce(
      (select max(opened_at) from outbox_attempts where outbox_id = outbox.id), outbox.created_at))
    from outbox where state = 'unsettled'`;
  const [sentAt = null] = await readTexts(db, oldest);
  return sentAt;
}
