import { sql } from 'drizzle-orm';
import { instantText, isAhead } from '../../lib/time/clock.ts';
import { LEASE_MS } from '../kinds/kind-lease.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { WORKERS } from '../tables/outbox-tables.ts';
import { textColumn, timestampColumn } from '../../db/rows/engine-column.ts';
import { insertInto, readRows, select } from '../../db/rows/rows.ts';

/** A process that works rows, with the roles that other processes can rely on. */
export interface Worker {
  /** The owner name that it writes into the rows that it claims. */
  readonly owner: string;
  readonly roles: readonly string[];
  /** The schedules by which it pulls, as JSON; absent = it does not pull. */
  readonly schedules?: string | null;
}

/** One that tells living processes from dead ones. */
export interface WorkerJudge {
  readonly now: Date;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

const FORGOTTEN_AFTER_MS = 86_400_000; // Long after a dead process's rows were freed.

/** Records that a process works rows from now on; runs before the process claims its first row. */
export async function registerWorker(session: Session, worker: Worker, now: Date): Promise<void> {
  await session.atomically((tx) => noteWorker(tx, worker, now));
}

async function noteWorker(tx: Transaction, { roles, ...rest }: Worker, now: Date): Promise<void> {
  const at = instantText(now);
  const worker = { ...rest, roles: roles.join(','), startedAt: at, seenAt: at };
  await tx.query(sql`
    ${insertInto(WORKERS, worker)}
    on conflict (owner) do update set roles = excluded.roles, seen_at = excluded.seen_at`);
}

/** Records a process's heartbeat, and removes processes without one for a day. */
export async function seeWorker(session: Session, worker: Worker, now: Date): Promise<void> {
  const old = instantText(new Date(now.getTime() - FORGOTTEN_AFTER_MS));
  await session.atomically(async (tx) => {
    await noteWorker(tx, worker, now); // After a day's sleep the process itself was removed.
    await tx.query(sql`delete from workers where seen_at < ${old}`);
  });
}

/** Removes a process that ended without claimed rows. One with claimed rows stays, and dies when its heartbeat lapses. */
export async function removeWorker(session: Session, owner: string): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.query(sql`delete from workers where owner = ${owner}`);
  });
}

/** The owners whose rows are free again: without a heartbeat for the length of a lease, or dead by `isDead`. */
export async function deadWorkers(db: Queryable, reader: WorkerJudge): Promise<string[]> {
  const workers = await readWorkers(db, reader);
  return workers.filter((worker) => worker.isGone).map((worker) => worker.owner);
}

async function readWorkers(db: Queryable, judge: WorkerJudge) {
  const workers = await select(db, WORKERS, sql`order by owner`);
  return workers.map((worker) => ({ ...worker, isGone: isGone(worker, judge) }));
}

/** A heartbeat in the future is that of a clock which was ahead. */
function isGone(worker: { owner: string; seenAt: string }, judge: WorkerJudge): boolean {
  const oldest = instantText(new Date(judge.now.getTime() - LEASE_MS));
  return worker.seenAt <= oldest || isAhead(worker.seenAt, judge.now) || judge.isDead(worker.owner);
}

/** The owners at work on a mirror that this or an older release has made: those with a heartbeat. */
export async function ownersAtWork(tx: Transaction, judge: WorkerJudge): Promise<readonly string[]> {
  if ((await tx.columnsOf('workers')).size === 0) return [];
  const columns = [textColumn('owner'), timestampColumn('seen_at')] as const;
  const seen = await readRows(tx, columns, sql`select owner, seen_at from workers`);
  return seen.filter((worker) => !isGone(worker, judge)).map((decoded) => decoded.owner);
}

/** The owners at work, and those that hold the lease of a kind or a run, such as a pull by hand. */
export async function ownersHolding(tx: Transaction, judge: WorkerJudge): Promise<readonly string[]> {
  const { now, isDead } = judge;
  const leases = await readRows(
    tx,
    [textColumn('owner'), timestampColumn('lease_until')],
    sql`
      select owner, lease_until from kind_state where owner is not null and lease_until > ${instantText(now)}
      union select owner, lease_until from runs where owner is not null and lease_until > ${instantText(now)}`,
  );
  const holders = leases.filter((lease) => !isAhead(lease.leaseUntil, now) && !isDead(lease.owner));
  return [...(await ownersAtWork(tx, judge)), ...holders.map((holder) => holder.owner)];
}

/**
 * Creates a check whether an owner is gone. A worker is judged by its entry too; a pull by hand has no entry and is judged by
 * `isDead` alone.
 */
export async function goneOwners(db: Queryable, reader: WorkerJudge): Promise<WorkerJudge['isDead']> {
  const dead = await deadWorkers(db, reader);
  return (owner) => dead.includes(owner) || reader.isDead(owner);
}

/** The processes at work: those with an entry that are not dead. */
export const workersAtWork = async (db: Queryable, reader: WorkerJudge) =>
  (await readWorkers(db, reader)).filter((worker) => !worker.isGone);

/** The owners at work. */
export async function livingWorkers(db: Queryable, reader: WorkerJudge): Promise<ReadonlySet<string>> {
  return new Set((await workersAtWork(db, reader)).map(({ owner }) => owner));
}

/** Whether a live process has this role. */
export async function isServed(db: Queryable, role: string, reader: WorkerJudge): Promise<boolean> {
  return (await workersAtWork(db, reader)).some(({ roles }) => roles.split(',').includes(role));
}

/**
 * Records that a process works rows, unless another process does already.
 * @returns The owner that was first; null if it is this process.
 */
export async function registerAlone(
  session: Session,
  worker: Worker,
  reader: WorkerJudge,
): Promise<string | null> {
  return session.atomically(async (tx) => {
    const [other] = [...(await livingWorkers(tx, reader))].filter((owner) => owner !== worker.owner);
    if (other !== undefined) return other;
    await tx.query(sql`delete from workers`);
    await noteWorker(tx, worker, reader.now);
    return null;
  });
}
