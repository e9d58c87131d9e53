import { sql } from 'drizzle-orm';
import type { HoldClock } from '../../diff/judge-hold.ts';
import { instantOf, instantText } from '../../lib/clock.ts';
import { LeaseError } from '../session/errors.ts';
import { leaseEnd } from './lease-time.ts';
import type { Queryable, Session, Transaction } from '../session/session.ts';

/** The right to sweep one kind: held by its owner until `lease_until`, and renewed with every page that lands. */
export interface KindLease {
  readonly kind: string;
  readonly owner: string;
  readonly epoch: number;
  /** How the last sweep ended. */
  readonly before: { readonly state: string; readonly reason: string | null };
  /** The kind's tick counter when the lease was taken. */
  readonly tick: number;
  /** How many sweeps of this kind have reached the end of the list so far. */
  readonly completeSweeps: number;
  /** When the list was last known exactly; null = never yet. */
  readonly certifiedAt: string | null;
  /** The instant since which a record new to the mirror is also new to the service; null = not yet. */
  readonly baselineAt: string | null;
  /** The tick from which sightings are of the present source. */
  readonly knownFrom: number;
  /** The number of consecutive sweeps in which a record known to exist could not be retrieved. */
  readonly controlFailures: number;
  /** The tick at which the last complete sweep began; null = there was none, or it does not count. */
  readonly lastCompleteSweep: number | null;
  /** The number of consecutive complete sweeps that did not certify the list. */
  readonly uncertifiedSweeps: number;
  /** The kind's held records, as long as their hold stands. */
  readonly hold: HoldClock | null;
}

interface Claim {
  readonly kind: string;
  readonly owner: string;
  readonly now: Date;
  /** Whether the process of an owner has certainly ended. If so, its lease is free at once. */
  readonly isDead: (owner: string) => boolean;
}

/**
 * Takes the lease of a kind.
 *
 * @throws {LeaseError} If another owner may still be working.
 */
export async function claimKind(session: Session, { kind, owner, now, isDead }: Claim): Promise<KindLease> {
  return session.atomically(async (tx) => {
    const held = await readHolder(tx, kind);
    if (held.owner !== null && held.leaseUntil > instantText(now) && !isDead(held.owner)) {
      throw new LeaseError(`${kind} is being swept by ${held.owner} until ${held.leaseUntil} UTC.`, {
        code: 'mirror.kind_busy',
        hint: 'Let it finish; if that process is gone for good, its lease runs out within 45 s.',
      });
    }
    const epoch = held.epoch + 1;
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, owner, epoch, lease_until)
      values (${kind}, 0, 'running', 0, ${owner}, ${epoch}, ${leaseEnd(now)})
      on conflict (kind) do update set
        state = 'running', reason = null, owner = excluded.owner, epoch = excluded.epoch, lease_until = excluded.lease_until`);
    return { ...held.standing, kind, owner, epoch };
  });
}

interface Holder {
  readonly owner: string | null;
  readonly leaseUntil: string;
  readonly epoch: number;
  readonly standing: Omit<KindLease, 'kind' | 'owner' | 'epoch'>;
}

async function readHolder(tx: Transaction, kind: string): Promise<Holder> {
  const [row = {}] = await tx.query(sql`
    select state, reason, owner, epoch, tick, complete_sweeps, lease_until, certified_at, baseline_at, known_from,
      control_failures, last_complete_sweep, uncertified_sweeps, held_since, held_records
    from kind_state where kind = ${kind}`);
  const text = (name: string): string | null => (typeof row[name] === 'string' ? row[name] : null);
  const count = (name: string): number => Number(row[name] ?? 0);
  return {
    owner: text('owner'),
    leaseUntil: text('lease_until') ?? '',
    epoch: count('epoch'),
    standing: {
      before: beforeOf(text('state') ?? 'never', text('reason')),
      tick: count('tick'),
      completeSweeps: count('complete_sweeps'),
      certifiedAt: text('certified_at'),
      baselineAt: text('baseline_at'),
      knownFrom: count('known_from'),
      controlFailures: count('control_failures'),
      lastCompleteSweep: (row['last_complete_sweep'] ?? null) === null ? null : count('last_complete_sweep'),
      uncertifiedSweeps: count('uncertified_sweeps'),
      hold: holdOf(text('held_since'), count('held_records')),
    },
  };
}

function holdOf(since: string | null, records: number): HoldClock | null {
  return since === null ? null : { since: instantOf(since), records };
}

/** Notes the instant since which these records of a kind are held, in the transaction that notes the records. */
export async function saveHold(tx: Transaction, kind: string, hold: HoldClock | null): Promise<void> {
  const since = hold === null ? null : instantText(hold.since);
  await tx.query(sql`
    update kind_state set held_since = ${since}, held_records = ${hold?.records ?? null} where kind = ${kind}`);
}

/** A sweep whose process died did not record its end. */
function beforeOf(state: string, reason: string | null): KindLease['before'] {
  return state === 'running' ? { state: 'aborted', reason: 'interrupted' } : { state, reason };
}

/**
 * Validates a landing transaction: it renews our lease and advances the tick counter. The counter never goes back, although
 * pages that were requested in parallel land in another order than their answers came.
 *
 * @returns The counter. It is beyond our own ticks if a write of ours made it leap.
 * @throws {LeaseError} If another owner has taken the kind over; the transaction must not land.
 */
export async function renewLease(
  tx: Transaction,
  lease: KindLease,
  { tick, now }: { tick: number; now: Date },
): Promise<number> {
  const [renewed] = await tx.query(sql`
    update kind_state set tick = case when tick < ${tick} then ${tick} else tick end, lease_until = ${leaseEnd(now)}
    where kind = ${lease.kind} and owner = ${lease.owner} and epoch = ${lease.epoch} returning tick`);
  if (renewed === undefined) throw lost(lease);
  return Number(renewed['tick']);
}

type StoredAtEnd =
  'certifiedAt' | 'baselineAt' | 'controlFailures' | 'lastCompleteSweep' | 'uncertifiedSweeps';

/** How a sweep ended. Facts of the list that it leaves out stay as they were when the lease was taken. */
export interface SweepEnd extends Partial<Pick<KindLease, StoredAtEnd>> {
  readonly state: string;
  readonly reason: string | null;
  /** True if the sweep reached the end of the list. */
  readonly isComplete: boolean;
  readonly hasChanges: boolean;
  readonly now: Date;
}

/** Gives the lease back and records how the sweep ended. */
export async function releaseKind(tx: Transaction, lease: KindLease, end: SweepEnd): Promise<void> {
  const now = instantText(end.now);
  const { certifiedAt, baselineAt, controlFailures, lastCompleteSweep, uncertifiedSweeps } = {
    ...lease,
    ...end,
  };
  const released = await tx.query(sql`
    update kind_state set
      state = ${end.state}, reason = ${end.reason}, owner = null, lease_until = null,
      complete_sweeps = complete_sweeps + ${end.isComplete ? 1 : 0},
      certified_at = ${certifiedAt}, baseline_at = ${baselineAt}, control_failures = ${controlFailures},
      last_complete_sweep = ${lastCompleteSweep}, uncertified_sweeps = ${uncertifiedSweeps},
      last_sweep_at = case when ${end.isComplete ? 1 : 0} = 1 then ${now} else last_sweep_at end,
      last_change_at = case when ${end.hasChanges ? 1 : 0} = 1 then ${now} else last_change_at end
    where kind = ${lease.kind} and owner = ${lease.owner} and epoch = ${lease.epoch} returning kind`);
  if (released.length === 0) throw lost(lease);
}

/** Whether some kind already records changes as events; these cannot be read from the service again. */
export async function hasBaseline(db: Queryable): Promise<boolean> {
  return (await db.query(sql`select 1 from kind_state where baseline_at is not null limit 1`)).length > 0;
}

function lost({ kind, owner }: KindLease): LeaseError {
  return new LeaseError(
    `${owner} no longer has the lease of ${kind}: another process has taken the sweep over.`,
    {
      code: 'mirror.lease_lost',
      hint: 'Nothing is lost: the other process reads the list again.',
    },
  );
}
