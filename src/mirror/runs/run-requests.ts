import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import { leaseEnd } from '../kinds/lease-time.ts';
import { MOST_EPOCH, UNHEARD, fateOf, hasLapsed } from './run-lease.ts';
import type { Queryable, Transaction } from '../session/session.ts';

/** A run that waits for somebody to work it. */
export interface RequestedRun {
  readonly id: number;
  readonly epoch: number;
}

export interface SweepWish {
  readonly kinds: readonly string[];
  /** Who wants it, for people. */
  readonly request: string;
  readonly now: Date;
}

/** Asks for a pull of these kinds; one that is asked for already and not begun serves both. */
export async function requestPull(tx: Transaction, { kinds, request, now }: SweepWish): Promise<number> {
  const wanted = JSON.stringify(kinds);
  const [waiting] = await tx.query(sql`
    select id from runs where command = 'pull' and state = 'requested' and kinds = ${wanted} order by id limit 1`);
  if (waiting !== undefined) return Number(waiting['id']);
  const [row] = await tx.query(sql`
    insert into runs (command, kinds, request, state, requested_at, epoch)
    values ('pull', ${wanted}, ${request}, 'requested', ${instantText(now)}, 0) returning id`);
  return Number(row?.['id']);
}

/** Runs that were asked for and not begun, oldest first. */
export async function requestedRuns(db: Queryable, now: Date, limit: number): Promise<RequestedRun[]> {
  const rows = await db.query(sql`
    select id, epoch from runs where state = 'requested'
      and (next_attempt_at is null or next_attempt_at <= ${instantText(now)}) order by id limit ${limit}`);
  return rows.map((row) => ({ id: Number(row['id']), epoch: Number(row['epoch'] ?? 0) }));
}

/** Raises the epoch of a run that still waits under this one; null where it does not. */
export async function raiseRun(tx: Transaction, { id, epoch }: RequestedRun): Promise<RequestedRun | null> {
  const raised = await tx.query(sql`
    update runs set epoch = ${epoch + 1} where id = ${id} and state = 'requested' and coalesce(epoch, 0) = ${epoch}
    returning id`);
  return raised.length === 0 ? null : { id, epoch: epoch + 1 };
}

export interface RunClaim extends RequestedRun {
  readonly owner: string;
  readonly now: Date;
}

/** Begins a run that was asked for, by compare-and-set; returns its kinds, or null where somebody else has it. */
export async function claimRun(
  tx: Transaction,
  { id, epoch, owner, now }: RunClaim,
): Promise<readonly string[] | null> {
  const [row] = await tx.query(sql`
    update runs set state = 'running', owner = ${owner}, started_at = ${instantText(now)}, epoch = ${epoch + 1},
      lease_until = ${leaseEnd(now)}
    where id = ${id} and state = 'requested' and coalesce(epoch, 0) = ${epoch} returning kinds`);
  return row === undefined ? null : (JSON.parse(String(row['kinds'])) as string[]);
}

/** Begins a run that waits, whatever its epoch; false where it does not wait any more. */
export async function claimWaitingRun(tx: Transaction, claim: Omit<RunClaim, 'epoch'>): Promise<boolean> {
  const [row] = await tx.query(sql`select epoch from runs where id = ${claim.id} and state = 'requested'`);
  if (row === undefined) return false;
  return (await claimRun(tx, { ...claim, epoch: Number(row['epoch'] ?? 0) })) !== null;
}

/**
 * Records that runs of processes that are gone have ended; those that were asked for wait for somebody else.
 *
 * Gone is whoever `isDead` tells of, and whoever has not renewed the run's lease: of a process of another host nothing else
 * is known.
 */
export async function closeDeadRuns(
  tx: Transaction,
  { isDead, now }: { readonly isDead: (owner: string) => boolean; readonly now: Date },
): Promise<void> {
  const at = instantText(now);
  for (const row of await tx.query(sql`
    select id, state, owner, epoch, lease_until from runs where state = 'running'`)) {
    const hasEnded = isDead(String(row['owner']));
    if (!hasEnded && !hasLapsed(row, now)) continue;
    const id = Number(row['id']);
    if (fateOf(row) === 'requested') await askAgain(tx, id);
    else
      await tx.query(sql`
        update runs set state = 'interrupted', reason = ${hasEnded ? ENDED : UNHEARD}, finished_at = ${at},
          lease_until = null
        where id = ${id}`);
  }
}

const ENDED = 'its process ended';

/** Asks anew for a run that was cut off because its process had to end: that is no worse reason than a death. */
export async function resumeInterrupted(tx: Transaction, id: number): Promise<void> {
  const [row] = await tx.query(sql`
    select id from runs where id = ${id} and state = 'interrupted' and epoch < ${MOST_EPOCH}`);
  if (row !== undefined) await askAgain(tx, id);
}

/** Puts a run back that makes way for others: it goes on where it stopped, once they are done. */
export async function putRunBack(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql`
    update runs set state = 'requested', owner = null, reason = null, finished_at = null
    where id = ${id} and state = 'interrupted'`);
}

const LONGEST_WAIT_MS = 86_400_000;

/** Gives up verifications that have found no idle moment within a day; returns their ids. */
export async function giveUpVerifying(tx: Transaction, now: Date): Promise<number[]> {
  const since = instantText(new Date(now.getTime() - LONGEST_WAIT_MS));
  const given = await tx.query(sql`
    update runs set state = 'interrupted', reason = 'no idle moment within a day', finished_at = ${instantText(now)}
    where command = 'verify' and state = 'requested' and requested_at <= ${since} returning id`);
  return given.map((row) => Number(row['id']));
}

async function askAgain(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql`delete from run_kinds where run_id = ${id}`); // It begins anew, and reports anew.
  await tx.query(sql`
    update runs set state = 'requested', owner = null, lease_until = null, reason = null, finished_at = null,
      epoch = epoch + 1
    where id = ${id}`);
}
