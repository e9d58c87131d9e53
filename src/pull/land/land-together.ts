import { excludedSince } from '../../store/kinds/exclusions.ts';
import { renewLease } from '../../store/kinds/kind-lease.ts';
import { bindSource } from '../source-binding.ts';
import { readSending } from '../../store/outbox/outbox-queue.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { hasOpenFieldIssues } from '../../store/records/issue-store.ts';
import { readDirtyRows } from '../../store/sightings/page-store.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { applyEffects, noEffects, noteWrites, type KindReading, type ReadingState } from '../reading.ts';

/** A reading within a landing's transaction. */
export interface LandingReading extends KindReading {
  /** Ids of records that are kept out of the mirror; read in the transaction, because a person may add to them at any time. */
  readonly suppressed: ReadonlySet<string>;
  /** Ids that an outbox entry is changing, or has changed without an answer; every landing reads them again. */
  readonly sending: ReadonlySet<string>;
  /** Fields that the mirror keeps out by now and this process does not: with any, no row is written. */
  readonly excluded: readonly string[];
  /** Issues of fields are open. */
  hasFieldIssues: boolean;
  /** The changes of the transaction to the state of the reading. */
  readonly effects: ReadingState;
  /** The instant of landing. */
  readonly now: Date;
  /** Lists show the records; else they were retrieved one by one. */
  readonly isListed: boolean;
}

/**
 * Runs a landing as one transaction. Its effects on the state of the reading are applied after the commit, since the work may run
 * again after a lost connection.
 * @throws {LeaseError} If another owner has taken the kind over; nothing lands.
 */
export async function landTogether<T>(
  session: Session,
  reading: KindReading,
  { now, isListed }: { readonly now: Date; readonly isListed: boolean },
  work: (tx: Transaction, landing: LandingReading) => Promise<T>,
): Promise<T> {
  const { kind, lease, ticks, binding, companies, state } = reading;
  const savedCompanies = companies.ids.size;
  const { result, effects, tick } = await session.atomically(async (tx) => {
    const effects = noEffects(state);
    // Sent together: PostgreSQL answers all of them in the time of one.
    const [tick, sending, dirty, suppressed, excluded, hasFieldIssues] = await Promise.all([
      renewLease(tx, lease, ticks.latest()),
      readSending(tx, kind.name),
      readDirtyRows(tx, kind.name, state.latestWrite),
      readSuppressed(tx, kind.name),
      excludedSince(tx, kind),
      hasOpenFieldIssues(tx, kind.name),
    ]);
    await bindSource(tx, binding, companies);
    noteWrites(effects, dirty);
    const facts = { sending, suppressed, excluded, hasFieldIssues };
    const result = await work(tx, { ...reading, ...facts, effects, now, isListed });
    return { result, effects, tick };
  });
  ticks.advanceTo(tick);
  binding.isBound = true;
  companies.isReset = true;
  companies.saved = savedCompanies;
  applyEffects(state, effects);
  return result;
}
