import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import { leaseEnd } from '../kinds/kind-lease.ts';
import type { Session, Transaction } from '../session/session.ts';
import type { RUNS } from '../tables/engine-tables.ts';
import { hasRow } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

/** A run and the owner that claims to work it. */
export interface OwnRun {
  readonly runId: number;
  readonly owner: string;
}

/** The reason given for an interrupted run whose process stopped renewing its lease. */
export const UNHEARD = 'nothing more was heard of its process';

const MOST_DEATHS = 5; // The number of processes that may die on a run before it is given up.

/** A claim and a death raise a run's epoch by one each. */
export const MOST_EPOCH = 2 * MOST_DEATHS;

/** Whether a run is marked as running although its lease has lapsed; runs of earlier releases have no lease. */
export function hasLapsed({ state, leaseUntil }: RowOf<typeof RUNS>, now: Date): boolean {
  return state === 'running' && (leaseUntil ?? '') <= instantText(now);
}

/** The next state of a run whose process is gone: a requested run is worked again. */
export function fateOf({ epoch }: RowOf<typeof RUNS>): 'requested' | 'interrupted' {
  return epoch !== null && epoch < MOST_EPOCH ? 'requested' : 'interrupted';
}

/** Renews a run's lease; does nothing if another process owns the run by now. */
export async function renewRun(session: Session, { runId, owner }: OwnRun, now: Date): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.query(sql`
      update runs set lease_until = ${leaseEnd(now)}
      where id = ${runId} and owner = ${owner} and state = 'running'`);
  });
}

/** Whether the process still owns the run: after a long standstill another may have taken it over. */
export async function isOwnRun(tx: Transaction, { runId, owner }: OwnRun): Promise<boolean> {
  return hasRow(tx, sql`select 1 from runs where id = ${runId} and owner = ${owner}`);
}
