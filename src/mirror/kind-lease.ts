import { sql } from 'drizzle-orm';
import { instantText } from '../lib/clock.ts';
import { LeaseError } from './errors.ts';
import type { Session, Transaction } from './session.ts';

/** The right to sweep one kind: held by its owner until `lease_until`, and renewed with every page that lands. */
export interface KindLease {
  readonly kind: string;
  readonly owner: string;
  readonly epoch: number;
  /** Where the kind's counter of ticks stood when the lease was taken. */
  readonly tick: number;
  /** How many sweeps of this kind have reached the end of the list so far. */
  readonly completeSweeps: number;
}

export interface Claim {
  readonly kind: string;
  readonly owner: string;
  readonly now: Date;
  /** Tells whether the process behind an owner is gone for certain: then its lease is free at once. */
  readonly isDead: (owner: string) => boolean;
}

const LEASE_MS = 60_000;

/**
 * Takes the lease of a kind.
 *
 * @throws {LeaseError} Where another owner may still be at work.
 */
export async function claimKind(session: Session, { kind, owner, now, isDead }: Claim): Promise<KindLease> {
  return session.atomically(async (tx) => {
    const held = await readHolder(tx, kind);
    if (held.owner !== null && held.leaseUntil > instantText(now) && !isDead(held.owner)) {
      throw new LeaseError(`${kind} is being swept by ${held.owner} until ${held.leaseUntil} UTC.`, {
        code: 'mirror.kind_busy',
        hint: 'Let it finish; if that process is gone for good, its lease runs out within a minute.',
      });
    }
    const epoch = held.epoch + 1;
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, owner, epoch, lease_until)
      values (${kind}, 0, 'running', 0, ${owner}, ${epoch}, ${leaseEnd(now)})
      on conflict (kind) do update set
        state = 'running', reason = null, owner = excluded.owner, epoch = excluded.epoch, lease_until = excluded.lease_until`);
    return { kind, owner, epoch, tick: held.tick, completeSweeps: held.completeSweeps };
  });
}

interface Holder extends Pick<KindLease, 'epoch' | 'tick' | 'completeSweeps'> {
  readonly owner: string | null;
  readonly leaseUntil: string;
}

async function readHolder(tx: Transaction, kind: string): Promise<Holder> {
  const [row] = await tx.query(sql`
    select owner, epoch, tick, complete_sweeps, lease_until from kind_state where kind = ${kind}`);
  if (row === undefined) return { owner: null, leaseUntil: '', epoch: 0, tick: 0, completeSweeps: 0 };
  return {
    owner: row['owner'] === null ? null : String(row['owner']),
    leaseUntil: String(row['lease_until']),
    epoch: Number(row['epoch']),
    tick: Number(row['tick']),
    completeSweeps: Number(row['complete_sweeps']),
  };
}

/**
 * Makes a landing transaction valid: the lease is still ours, and the counter of ticks never goes back, although pages
 * that were under way side by side land in another order than they were answered in.
 *
 * @throws {LeaseError} Where another owner has taken the kind over; the transaction must not land.
 */
export async function renewLease(
  tx: Transaction,
  lease: KindLease,
  { tick, now }: { tick: number; now: Date },
): Promise<void> {
  const renewed = await tx.query(sql`
    update kind_state set tick = case when tick < ${tick} then ${tick} else tick end, lease_until = ${leaseEnd(now)}
    where kind = ${lease.kind} and owner = ${lease.owner} and epoch = ${lease.epoch} returning kind`);
  if (renewed.length === 0) throw lost(lease);
}

export interface SweepEnd {
  readonly state: string;
  readonly reason: string | null;
  /** True where the sweep reached the end of the list. */
  readonly isComplete: boolean;
  readonly hasChanges: boolean;
  readonly now: Date;
}

/** Gives the lease back and records how the sweep ended. */
export async function releaseKind(tx: Transaction, lease: KindLease, end: SweepEnd): Promise<void> {
  const now = instantText(end.now);
  const released = await tx.query(sql`
    update kind_state set
      state = ${end.state}, reason = ${end.reason}, owner = null, lease_until = null,
      complete_sweeps = complete_sweeps + ${end.isComplete ? 1 : 0},
      last_sweep_at = case when ${end.isComplete ? 1 : 0} = 1 then ${now} else last_sweep_at end,
      last_change_at = case when ${end.hasChanges ? 1 : 0} = 1 then ${now} else last_change_at end
    where kind = ${lease.kind} and owner = ${lease.owner} and epoch = ${lease.epoch} returning kind`);
  if (released.length === 0) throw lost(lease);
}

const leaseEnd = (now: Date): string => instantText(new Date(now.getTime() + LEASE_MS));

function lost({ kind, owner }: KindLease): LeaseError {
  return new LeaseError(
    `${owner} no longer has the lease of ${kind}: another process has taken the sweep over.`,
    {
      code: 'mirror.lease_lost',
      hint: 'Nothing is lost: the other process reads the list again.',
    },
  );
}
