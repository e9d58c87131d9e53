import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import { leaseEnd } from '../kinds/lease-time.ts';
import type { Row, Session, Transaction } from '../session/session.ts';

/** A run, and the process that works it as far as it knows itself. */
export interface OwnRun {
  readonly runId: number;
  readonly owner: string;
}

/** Why a run is said to have been interrupted of whose process nothing more is known. */
export const UNHEARD = 'nothing more was heard of its process';

const MOST_DEATHS = 5; // So many processes may die over a run before it is given up.

/** A claim and a death raise a run's epoch by one each. */
export const MOST_EPOCH = 2 * MOST_DEATHS;

/** Whether a run is said to be under way, and nobody has renewed its lease; earlier releases have left none. */
export function hasLapsed(row: Row, now: Date): boolean {
  return row['state'] === 'running' && String(row['lease_until'] ?? '') <= instantText(now);
}

/** What becomes of a run whose process is gone: one that was asked for is worked again. */
export function fateOf({ epoch = null }: Row): 'requested' | 'interrupted' {
  return epoch !== null && Number(epoch) < MOST_EPOCH ? 'requested' : 'interrupted';
}

/** Records that a run's process lives; does nothing where the run is another's by now. */
export async function renewRun(session: Session, { runId, owner }: OwnRun, now: Date): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.query(sql`
      update runs set lease_until = ${leaseEnd(now)}
      where id = ${runId} and owner = ${owner} and state = 'running'`);
  });
}

/** Whether a run is still its process's own: one that stood still for long may have been taken over. */
export async function isOwnRun(tx: Transaction, { runId, owner }: OwnRun): Promise<boolean> {
  return (await tx.query(sql`select 1 from runs where id = ${runId} and owner = ${owner}`)).length > 0;
}
