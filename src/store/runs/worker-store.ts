import { sql } from 'drizzle-orm';
import { refuseUnfinished } from '../kinds/target-mark.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { WORKERS } from '../tables/outbox-tables.ts';
import { pickColumns, readNumber } from '../../db/rows/rows.ts';
import { KIND_STATE, RUNS } from '../tables/engine-tables.ts';
import { databaseClock, readAlive } from '../kinds/liveness.ts';

/** A process that works rows, with the roles that other processes can rely on. */
export interface Worker {
  /** The owner name that it writes into the rows that it claims. */
  readonly owner: string;
  readonly roles: readonly string[];
  /** Its pull schedules, as JSON; absent = it does not pull. */
  readonly schedules?: string | null;
}

/** @throws {SyncError} `mirror.unfinished` in a database that a move has begun to fill since this process opened it. */
async function upsertWorker(tx: Transaction, { owner, roles, schedules = null }: Worker): Promise<void> {
  await refuseUnfinished(tx);
  await tx.query(sql`
    insert into workers (owner, roles, schedules, started_at, seen_at)
    values (${owner}, ${roles.join(',')}, ${schedules}, ${databaseClock(tx, 0)}, ${databaseClock(tx, 0)})
    on conflict (owner) do update set roles = excluded.roles, seen_at = excluded.seen_at`);
}

const DAY_S = 86_400;

/** Records that a process works rows, before it claims the first one and ever again; removes processes without a heartbeat for a day. */
export async function saveHeartbeat(session: Session, worker: Worker): Promise<void> {
  await session.atomically(async (tx) => {
    await upsertWorker(tx, worker); // After a day's sleep the process itself was removed.
    await tx.query(sql`delete from workers where seen_at < ${databaseClock(tx, -DAY_S)}`); // Long after a dead process's rows were freed.
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

/** The processes at work. */
export const listLiveWorkers = (db: Queryable) => readAlive(db, WORKERS, 'seen_at', sql`order by owner`);

/** The owners at work. */
export async function readLiveOwners(db: Queryable): Promise<ReadonlySet<string>> {
  const owners = await readAlive(db, pickColumns(WORKERS, 'owner'), 'seen_at');
  return new Set(owners.map((worker) => worker.owner));
}

/** The same on a mirror that an older release has made, or that is to be made. */
export const listLiveOwners = async (tx: Transaction): Promise<readonly string[]> =>
  (await tx.listColumns('workers')).size === 0 ? [] : [...(await readLiveOwners(tx))];

/** The same with the holders of leases of a kind or run, such as a pull by hand. */
export async function ownersHolding(tx: Transaction): Promise<readonly string[]> {
  const kinds = await readAlive(tx, pickColumns(KIND_STATE, 'owner'), 'lease_until');
  const runs = await readAlive(tx, pickColumns(RUNS, 'owner'), 'lease_until');
  return [...(await listLiveOwners(tx)), ...[...kinds, ...runs].map((row) => String(row.owner))];
}

export async function hasLiveRole(db: Queryable, role: string): Promise<boolean> {
  return (await listLiveWorkers(db)).some((worker) => worker.roles.split(',').includes(role));
}

/**
 * Records that a process works rows, unless another process does already.
 * @returns The owner that was first; null if it is this process.
 */
export async function registerOnlyWorker(session: Session, worker: Worker): Promise<string | null> {
  return session.atomically(async (tx) => {
    const [otherOwner] = [...(await readLiveOwners(tx))].filter((owner) => owner !== worker.owner);
    if (otherOwner !== undefined) return otherOwner;
    await tx.query(sql`delete from workers`);
    await upsertWorker(tx, worker);
    return null;
  });
}
