import { sql } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import { leaseEnd, readAlive } from './liveness.ts';
import { LeaseError } from '../../db/session/errors.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import { assignments, hasRow, pickColumns, readNumber, selectOne, type RowOf } from '../../db/rows/rows.ts';

type State = typeof KIND_STATE.$inferSelect;

/** The envelope and the page size that a list had last. */
export type ListShape = Pick<State, (typeof SHAPE)[number]>;

/** Facts of a list that the end of a sweep may change. */
type ListFacts = Omit<RowOf<typeof STORED_AT_END>, 'state' | 'reason'>;

/** The right to sweep one kind: held by its owner until `lease_until`, and renewed with every page that lands. */
export interface KindLease extends ListFacts, Pick<State, 'tick' | 'completeSweeps' | 'knownFrom'> {
  readonly kind: string;
  readonly owner: string;
  readonly epoch: number;
  /** How the last sweep ended. */
  readonly before: { readonly state: string; readonly reason: string | null };
  /** The rules that fill the kind's columns. */
  readonly decodedAs: string | null;
}

const YIELDS = sql`lease_yields is not null`;

/** The kinds whose lease is held for a sweep, by an owner that is alive: a reading between sweeps makes way. */
export const leasedKinds = async (db: Queryable): Promise<string[]> =>
  (await readAlive(db, KIND_STATE, 'lease_until', sql`and not ${YIELDS}`)).map((row) => row.kind);

/** Takes the lease of a kind. @throws {LeaseError} If another owner may still be working. */
export async function claimKind(session: Session, kind: string, owner: string): Promise<KindLease> {
  return session.atomically(async (tx) => {
    const held = await selectOne(tx, KIND_STATE, sql`where kind = ${kind}`);
    if (held !== null && (await leasedKinds(tx)).includes(kind))
      throw new LeaseError(
        `${kind} is being swept by ${held.owner ?? ''} until ${held.leaseUntil ?? ''} UTC.`,
        {
          code: 'mirror.kind_busy',
          hint: 'Let it finish; if that process is gone for good, its lease runs out within 45 s.',
        },
      );
    const epoch = (held?.epoch ?? 0) + 1;
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, owner, epoch, lease_until)
      values (${kind}, 0, 'running', 0, ${owner}, ${epoch}, ${leaseEnd(tx)})
      on conflict (kind) do update set
        state = 'running', reason = null, owner = excluded.owner, epoch = excluded.epoch,
        lease_until = excluded.lease_until, lease_yields = null`);
    return { ...(held === null ? NEVER_SWEPT : leaseFacts(held)), kind, owner, epoch };
  });
}

type LeaseFacts = Omit<KindLease, 'kind' | 'owner' | 'epoch'>;

/** What is known of a list of which no sweep counts. */
export const UNKNOWN_LIST = {
  completeSweeps: 0,
  certifiedAt: null,
  baselineAt: null,
  controlFailures: 0,
  lastCompleteSweep: null,
  uncertifiedSweeps: 0,
  envelope: null,
  pageSize: null,
};

const NEVER_SWEPT: LeaseFacts = {
  ...UNKNOWN_LIST,
  before: { state: 'never', reason: null },
  tick: 0,
  knownFrom: 0,
  decodedAs: null,
};

/** The facts of a kind's row when its lease is taken. */
function leaseFacts(row: State): LeaseFacts {
  const { state, reason, ...facts } = row;
  return {
    ...facts,
    // A sweep whose process died did not record its end.
    before: state === 'running' ? { state: 'aborted', reason: 'interrupted' } : { state, reason },
  };
}

/**
 * Validates a landing transaction: it renews our lease and advances the tick counter. The counter never goes back, although
 * pages that were requested in parallel land in another order than their answers came.
 * @returns The counter. It is beyond our own ticks if one of our writes made it leap.
 * @throws {LeaseError} If another owner has taken the kind over; the transaction must not land.
 */
export async function renewLease(tx: Transaction, lease: KindLease, tick: number): Promise<number> {
  const renewal = sql`
    update kind_state set tick = case when tick < ${tick} then ${tick} else tick end, lease_until = ${leaseEnd(tx)}
    where kind = ${lease.kind} and owner = ${lease.owner} and epoch = ${lease.epoch} returning tick`;
  const renewed = await readNumber(tx, renewal);
  if (renewed === null) throw leaseLostError(lease);
  return renewed;
}

function leaseLostError(lease: KindLease): LeaseError {
  return new LeaseError(
    `${lease.owner} no longer has the lease of ${lease.kind}: another process has taken the sweep over.`,
    { code: 'mirror.lease_lost', hint: 'Nothing is lost: the other process reads the list again.' },
  );
}

const COUNTED = ['controlFailures', 'lastCompleteSweep', 'uncertifiedSweeps'] as const;
const SHAPE = ['envelope', 'pageSize'] as const;
const STORED_AT_END = pickColumns(
  KIND_STATE,
  'state',
  'reason',
  'certifiedAt',
  'baselineAt',
  ...COUNTED,
  ...SHAPE,
);

/** How a sweep ended. Facts of the list that it leaves out stay as they were when the lease was taken. */
export interface SweepEnd extends Partial<ListFacts> {
  readonly state: string;
  readonly reason: string | null;
  /** True if the sweep reached the end of the list. */
  readonly isComplete: boolean;
  readonly now: Date;
}

/** Gives the lease back and records how the sweep ended. */
export async function releaseKind(tx: Transaction, lease: KindLease, end: SweepEnd): Promise<void> {
  const now = formatInstant(end.now);
  const release = sql`
    update kind_state set
      ${assignments(STORED_AT_END, { ...lease, ...end })}, owner = null, lease_until = null,
      complete_sweeps = complete_sweeps + ${end.isComplete ? 1 : 0},
      last_sweep_at = case when ${end.isComplete ? 1 : 0} = 1 then ${now} else last_sweep_at end
    where kind = ${lease.kind} and owner = ${lease.owner} and epoch = ${lease.epoch} returning kind`;
  if (!(await hasRow(tx, release))) throw leaseLostError(lease);
}

/**
 * Takes the lease of a kind for a reading between sweeps: the kind's standing stays as it is, and a sweep may take the lease
 * over at once, whereupon nothing of the reading lands.
 * @returns Null if the kind is being read, or has no baseline.
 */
export async function claimPreemptible(
  session: Session,
  kind: string,
  owner: string,
): Promise<KindLease | null> {
  return session.atomically(async (tx) => {
    const held = await selectOne(tx, KIND_STATE, sql`where kind = ${kind}`);
    if (held === null || held.baselineAt === null || held.state === 'running') return null;
    const isOwn = sql`owner = ${owner} and ${YIELDS}`; // It could not be given back.
    const others = sql`and kind = ${kind} and not (${isOwn})`;
    if ((await readAlive(tx, KIND_STATE, 'lease_until', others)).length > 0) return null;
    const epoch = held.epoch + 1;
    await tx.query(sql`
      update kind_state set owner = ${owner}, epoch = ${epoch}, lease_until = ${leaseEnd(tx)}, lease_yields = 1
      where kind = ${kind}`);
    return { ...leaseFacts(held), kind, owner, epoch };
  });
}

/** Gives the lease back; does nothing if a sweep has taken it over. */
export async function releasePreemptible(tx: Transaction, lease: KindLease): Promise<void> {
  await tx.query(sql`
    update kind_state set owner = null, lease_until = null, lease_yields = null
    where kind = ${lease.kind} and owner = ${lease.owner} and epoch = ${lease.epoch} and lease_yields = 1`);
}

/** Whether some kind already records changes as events; these cannot be read from the service again. */
export async function hasBaseline(db: Queryable): Promise<boolean> {
  return hasRow(db, sql`select 1 from kind_state where baseline_at is not null limit 1`);
}
