import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/clock.ts';
import { LEASE_MS } from '../kinds/lease-time.ts';
import type { Queryable, Session, Transaction } from '../session/session.ts';

/** A process that works rows, and what it does. */
export interface Worker {
  /** What it writes into the rows that it claims. */
  readonly owner: string;
  readonly roles: readonly string[];
}

const FORGOTTEN_AFTER_MS = 86_400_000; // Long after the rows of the dead were freed.

/** Records that a process works rows from now on. It must be recorded before it claims its first. */
export async function registerWorker(session: Session, worker: Worker, now: Date): Promise<void> {
  await session.atomically((tx) => noteWorker(tx, worker, now));
}

async function noteWorker(tx: Transaction, { owner, roles }: Worker, now: Date): Promise<void> {
  const at = instantText(now);
  await tx.query(sql`
    insert into workers (owner, roles, started_at, seen_at) values (${owner}, ${roles.join(',')}, ${at}, ${at})
    on conflict (owner) do update set roles = excluded.roles, seen_at = excluded.seen_at`);
}

/** Records that a process lives, and forgets those that have not for a day. */
export async function seeWorker(session: Session, worker: Worker, now: Date): Promise<void> {
  const old = instantText(new Date(now.getTime() - FORGOTTEN_AFTER_MS));
  await session.atomically(async (tx) => {
    await noteWorker(tx, worker, now); // A process that slept for a day was forgotten itself.
    await tx.query(sql`delete from workers where seen_at < ${old}`);
  });
}

/** Records that a process has ended with no row in hand; one that has rows in hand stays, and dies by being unseen. */
export async function removeWorker(session: Session, owner: string): Promise<void> {
  await session.atomically(async (tx) => {
    await tx.query(sql`delete from workers where owner = ${owner}`);
  });
}

/** The owners whose rows are free again: unseen for as long as a lease lasts, or gone for certain as `isDead` tells. */
export async function deadWorkers(
  db: Queryable,
  now: Date,
  isDead: (owner: string) => boolean,
): Promise<string[]> {
  const living = instantText(new Date(now.getTime() - LEASE_MS));
  const rows = await db.query(sql`select owner, seen_at from workers order by owner`);
  return rows
    .filter((row) => String(row['seen_at']) <= living || isDead(String(row['owner'])))
    .map((row) => String(row['owner']));
}

/**
 * Tells of any owner whether it is gone: a worker by its entry too, anybody else by `isDead` alone, as a pull by hand has no
 * entry.
 */
export async function goneOwners(
  db: Queryable,
  now: Date,
  isDead: (owner: string) => boolean,
): Promise<(owner: string) => boolean> {
  const dead = await deadWorkers(db, now, isDead);
  return (owner) => dead.includes(owner) || isDead(owner);
}

/** The owners that are at work: whose entry is there and not that of the dead. */
export async function livingWorkers(
  db: Queryable,
  now: Date,
  isDead: (owner: string) => boolean,
): Promise<ReadonlySet<string>> {
  const dead = new Set(await deadWorkers(db, now, isDead));
  const rows = await db.query(sql`select owner from workers order by owner`);
  return new Set(rows.map((row) => String(row['owner'])).filter((owner) => !dead.has(owner)));
}

/** Whether somebody is at work who does this. */
export async function isServed(
  db: Queryable,
  role: string,
  { now, isDead }: { readonly now: Date; readonly isDead: (owner: string) => boolean },
): Promise<boolean> {
  const living = await livingWorkers(db, now, isDead);
  const rows = await db.query(sql`select owner, roles from workers`);
  return rows.some(
    (row) => living.has(String(row['owner'])) && String(row['roles']).split(',').includes(role),
  );
}

/**
 * Records that a process works rows, unless another one does already.
 *
 * @returns The owner that is there first; null where it is this one.
 */
export async function registerAlone(
  session: Session,
  { owner, roles }: Worker,
  { now, isDead }: { readonly now: Date; readonly isDead: (owner: string) => boolean },
): Promise<string | null> {
  const at = instantText(now);
  return session.atomically(async (tx) => {
    const [other] = [...(await livingWorkers(tx, now, isDead))].filter((living) => living !== owner);
    if (other !== undefined) return other;
    await tx.query(sql`delete from workers`);
    await tx.query(sql`
      insert into workers (owner, roles, started_at, seen_at) values (${owner}, ${roles.join(',')}, ${at}, ${at})`);
    return null;
  });
}
