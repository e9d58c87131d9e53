import { sql } from 'drizzle-orm';
import { formatInstant, isFromFastClock } from '../../lib/time/clock.ts';
import { DAY_MS } from '../../lib/time/zone-offset.ts';
import { refuseUnfinished } from '../kinds/target-mark.ts';
import { LEASE_MS } from '../kinds/kind-lease.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { WORKERS } from '../tables/outbox-tables.ts';
import { textColumn, timestampColumn } from '../../db/rows/engine-column.ts';
import { insertInto, readNumber, readRows, select } from '../../db/rows/rows.ts';

/** A process that works rows, with the roles that other processes can rely on. */
export interface Worker {
  /** The owner name that it writes into the rows that it claims. */
  readonly owner: string;
  readonly roles: readonly string[];
  /** Its pull schedules, as JSON; absent = it does not pull. */
  readonly schedules?: string | null;
}

/** Distinguishes living processes from dead ones. */
export interface LivenessCheck {
  readonly now: Date;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

/** @throws {SyncError} `mirror.unfinished` in a database that a move has begun to fill since this process opened it. */
async function upsertWorker(tx: Transaction, { roles, ...rest }: Worker, now: Date): Promise<void> {
  await refuseUnfinished(tx);
  const at = formatInstant(now);
  const worker = { ...rest, roles: roles.join(','), startedAt: at, seenAt: at };
  await tx.query(sql`
    ${insertInto(WORKERS, worker)}
    on conflict (owner) do update set roles = excluded.roles, seen_at = excluded.seen_at`);
}

/** Records that a process works rows, before it claims the first one and ever again; removes processes without a heartbeat for a day. */
export async function saveHeartbeat(session: Session, worker: Worker, now: Date): Promise<void> {
  const old = formatInstant(new Date(now.getTime() - DAY_MS)); // Long after a dead process's rows were freed.
  await session.atomically(async (tx) => {
    await upsertWorker(tx, worker, now); // After a day's sleep the process itself was removed.
    await tx.query(sql`delete from workers where seen_at < ${old}`);
  });
}

/** The sends that a process has journalled, as far as the database knows. */
export const readWorkerSends = async (db: Queryable, owner: string): Promise<number> =>
  (await readNumber(db, sql`select sends from workers where owner = ${owner}`)) ?? 0;

/** Counts a send of a process within the transaction that journals it; returns its sends so far. */
export const countWorkerSend = async (tx: Transaction, owner: string): Promise<number> =>
  (await readNumber(tx, sql`update workers set sends = sends + 1 where owner = ${owner} returning sends`)) ??
  0;

/** Removes a process that ended without claimed rows. One with claimed rows stays, and dies when its heartbeat lapses. */
export async function removeWorker(session: Session, owner: string): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.query(sql`delete from workers where owner = ${owner}`);
  });
}

/** The owners whose rows are free again: without a heartbeat for the length of a lease, or dead by `isDead`. */
export async function listStaleWorkers(db: Queryable, liveness: LivenessCheck): Promise<string[]> {
  const workers = await readWorkers(db, liveness);
  return workers.filter((worker) => worker.isStale).map((worker) => worker.owner);
}

async function readWorkers(db: Queryable, liveness: LivenessCheck) {
  const workers = await select(db, WORKERS, sql`order by owner`);
  return workers.map((worker) => ({ ...worker, isStale: isStale(worker, liveness) }));
}

/** Ignores a heartbeat in the future: that clock was wrong. */
function isStale(worker: { owner: string; seenAt: string }, liveness: LivenessCheck): boolean {
  const oldest = formatInstant(new Date(liveness.now.getTime() - LEASE_MS));
  return (
    worker.seenAt <= oldest || isFromFastClock(worker.seenAt, liveness.now) || liveness.isDead(worker.owner)
  );
}

/** The owners at work on a mirror that this or an older release has made: those with a heartbeat. */
export async function listLiveOwners(tx: Transaction, liveness: LivenessCheck): Promise<readonly string[]> {
  if ((await tx.listColumns('workers')).size === 0) return [];
  const columns = [textColumn('owner'), timestampColumn('seen_at')] as const;
  const seen = await readRows(tx, columns, sql`select owner, seen_at from workers`);
  return seen.filter((worker) => !isStale(worker, liveness)).map((worker) => worker.owner);
}

/** The running owners and the holders of leases of a kind or run, such as a pull by hand. */
export async function ownersHolding(tx: Transaction, liveness: LivenessCheck): Promise<readonly string[]> {
  const { now, isDead } = liveness;
  const leases = await readRows(
    tx,
    [textColumn('owner'), timestampColumn('lease_until')],
    sql`
      select owner, lease_until from kind_state where owner is not null and lease_until > ${formatInstant(now)}
      union select owner, lease_until from runs where owner is not null and lease_until > ${formatInstant(now)}`,
  );
  const holders = leases.filter((lease) => !isFromFastClock(lease.leaseUntil, now) && !isDead(lease.owner));
  return [...(await listLiveOwners(tx, liveness)), ...holders.map((holder) => holder.owner)];
}

/**
 * Creates a check whether an owner is gone. A worker is judged by its entry too; a pull by hand has no entry and is judged by
 * `isDead` alone.
 */
export async function createStaleOwnerCheck(
  db: Queryable,
  liveness: LivenessCheck,
): Promise<LivenessCheck['isDead']> {
  const staleOwners = await listStaleWorkers(db, liveness);
  return (owner) => staleOwners.includes(owner) || liveness.isDead(owner);
}

/** The processes at work: those with an entry that are not dead. */
export const listLiveWorkers = async (db: Queryable, liveness: LivenessCheck) =>
  (await readWorkers(db, liveness)).filter((worker) => !worker.isStale);

/** The owners at work. */
export async function readLiveOwners(db: Queryable, liveness: LivenessCheck): Promise<ReadonlySet<string>> {
  return new Set((await listLiveWorkers(db, liveness)).map((worker) => worker.owner));
}

export async function hasLiveRole(db: Queryable, role: string, liveness: LivenessCheck): Promise<boolean> {
  return (await listLiveWorkers(db, liveness)).some((worker) => worker.roles.split(',').includes(role));
}

/**
 * Records that a process works rows, unless another process does already.
 * @returns The owner that was first; null if it is this process.
 */
export async function registerOnlyWorker(
  session: Session,
  worker: Worker,
  liveness: LivenessCheck,
): Promise<string | null> {
  return session.atomically(async (tx) => {
    const [otherOwner] = [...(await readLiveOwners(tx, liveness))].filter((owner) => owner !== worker.owner);
    if (otherOwner !== undefined) return otherOwner;
    await tx.query(sql`delete from workers`);
    await upsertWorker(tx, worker, liveness.now);
    return null;
  });
}
