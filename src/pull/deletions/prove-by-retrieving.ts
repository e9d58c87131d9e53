import type { RetrievableKind } from '../../catalog/kind.ts';
import { isOverdue, type HoldClock } from '../../diff/hold-clock.ts';
import { isProvenGone, type Absence, type DeletionRules } from '../../diff/decide-deletions.ts';
import { saveAbsences, releaseHeld } from '../../store/records/deletion-store.ts';
import { writeTombstones } from '../../store/records/tombstone-store.ts';
import { retrieveAbsent } from './absence-evidence.ts';
import type { PullParts } from '../run/parts.ts';
import { withLease, type Sweep } from '../run/sweep.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { saveHold } from '../../store/kinds/kind-lease.ts';
import { inChunks } from '../../db/session/sql-text.ts';

const RETRIEVED_AT_ONCE = 100;

interface RetrievalRequest {
  readonly kind: RetrievableKind;
  readonly control: string;
  readonly ids: readonly string[];
  readonly noted: Map<string, Absence>;
  readonly rules: DeletionRules;
}

/**
 * Retrieves records that are absent from their list, in batches, and marks the ones that are gone twice, a grace period
 * apart. Without a grace period the second retrieval follows at once.
 */
export async function proveByRetrieving(
  parts: PullParts,
  sweep: Sweep,
  request: RetrievalRequest,
): Promise<{ deleted: number; isControlFound: boolean }> {
  let deleted = 0;
  for (const batch of inChunks(request.ids, RETRIEVED_AT_ONCE)) {
    const first = await retrieveOnce(parts, sweep, { ...request, ids: batch });
    if (!first.isControlFound) return { deleted, isControlFound: false };
    const again = first.newlyGone.filter((absence) =>
      isProvenGone(absence, parts.clock.now(), request.rules),
    );
    deleted += first.deleted;
    if (again.length === 0) continue;
    const second = await retrieveOnce(parts, sweep, { ...request, ids: again.map((absence) => absence.id) });
    deleted += second.deleted;
  }
  return { deleted, isControlFound: true };
}

/**
 * Retrieves absent records once, notes the answers, and marks the records that are proven gone.
 *
 * @returns Also `newlyGone`, the records gone for the first time or too soon after it, and `unlisted`, the records that still exist.
 */
async function retrieveOnce(parts: PullParts, sweep: Sweep, request: RetrievalRequest) {
  const { noted, rules } = request;
  const { gone, there, unclear, isControlFound } = await retrieveAbsent(parts, {
    ...request,
    ticks: sweep.ticks,
  });
  const now = parts.clock.now();
  const absencesOf = (ids: readonly string[]): Absence[] => ids.flatMap((id) => noted.get(id) ?? []);
  const proven = absencesOf(gone).filter(
    (absence) => !['unlisted', 'held'].includes(absence.state) && isProvenGone(absence, now, rules),
  );
  const newlyGone = absencesOf(gone)
    .filter((absence) => !proven.includes(absence))
    .map((absence): Absence => {
      const state = absence.state === 'unlisted' ? 'suspected' : absence.state;
      return { ...absence, state, firstGoneAt: now, why: undefined };
    });
  const unlisted = absencesOf(there).map((absence): Absence => ({
    ...absence,
    state: 'unlisted',
    firstGoneAt: now,
    why: 'still_there',
  }));
  const doubtful = absencesOf([...unclear.keys()])
    .filter((absence) => absence.state === 'suspected' && absence.why !== unclear.get(absence.id))
    .map((absence): Absence => ({ ...absence, why: unclear.get(absence.id) }));
  const updated = [...newlyGone, ...unlisted, ...doubtful];
  for (const absence of updated) noted.set(absence.id, absence);
  const seen = updated.map((absence) => ({ ...absence, lastSeenAt: null })); // Noted before.
  await withLease(parts, sweep, (tx) => saveAbsences(tx, sweep.kind.name, seen));
  const ids = proven.map((absence) => absence.id);
  const deleted = await tombstoneRecords(parts, sweep, ids, 'retrieve');
  return { deleted, newlyGone, unlisted, isControlFound };
}

const ROWS_PER_TRANSACTION = 500;

/** Marks the rows of records that are proven to be gone; returns their number. */
export async function tombstoneRecords(
  parts: PullParts,
  sweep: Sweep,
  ids: readonly string[],
  proof: 'retrieve' | 'list',
): Promise<number> {
  const { kind, ticks, runId } = sweep;
  let deleted = 0;
  for (const batch of inChunks(ids, ROWS_PER_TRANSACTION)) {
    const response = ticks.next();
    const tombstoned = await withLease(parts, sweep, (tx, now) =>
      writeTombstones(tx, { kind: kind.name, ids: batch, proof, response, runId, now }),
    );
    deleted += tombstoned.length;
  }
  return deleted;
}

/** Held records retrieved in each sweep, in turn: a hold of thousands must not cost thousands each time. */
const HELD_RETRIEVED_PER_SWEEP = 20;

/**
 * Ends a hold if the settings allow that: retrieves some of the held records, restarts the clock if one of them
 * exists, and releases all to their proof once they have been gone long enough.
 *
 * @param held `ids`: those retrieved longest ago first; `request`: how to retrieve them, null if only the list can show them.
 * @returns Whether the control was found before and after; null if none was retrieved.
 */
export async function releaseOverdue(
  parts: PullParts,
  sweep: Sweep,
  held: {
    readonly hold: HoldClock | null;
    readonly ids: readonly string[];
    readonly request: Omit<RetrievalRequest, 'ids'> | null;
    readonly rules: DeletionRules;
    readonly isCertified: boolean;
  },
): Promise<boolean | null> {
  const { hold, ids, request, rules, isCertified } = held;
  if (hold === null || ids.length === 0 || typeof rules.releaseHeldAfterHours !== 'number') return null;
  if (request === null) {
    if (isCertified) await releaseIfOverdue(parts, sweep, hold, rules);
    return null;
  }
  const batch = ids.slice(0, HELD_RETRIEVED_PER_SWEEP);
  const { newlyGone, unlisted, isControlFound } = await retrieveOnce(parts, sweep, {
    ...request,
    ids: batch,
  });
  if (unlisted.length > 0) {
    const records = hold.records - unlisted.length;
    const clock = records === 0 ? null : { since: parts.clock.now(), records };
    await withLease(parts, sweep, (tx) => saveHold(tx, sweep.kind.name, clock));
  } else if (isControlFound && newlyGone.length === batch.length)
    await releaseIfOverdue(parts, sweep, hold, rules);
  return isControlFound;
}

/** Releases a hold to its proof and reports that no person has reviewed it. */
async function releaseIfOverdue(
  parts: PullParts,
  sweep: Sweep,
  hold: HoldClock,
  rules: DeletionRules,
): Promise<void> {
  if (!isOverdue(hold, parts.clock.now(), rules)) return;
  const kind = sweep.kind.name;
  const records = await withLease(parts, sweep, async (tx) => {
    await saveHold(tx, kind, null);
    return releaseHeld(tx, kind);
  });
  parts.logger.warn(
    { event: 'kind.released', kind, records, heldSince: formatInstant(hold.since) },
    'held deletions were released and wait for proof: deletions.releaseHeldAfterHours has passed',
  );
}
