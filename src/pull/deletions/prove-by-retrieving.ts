import type { RetrievableKind } from '../../catalog/kind.ts';
import { isProvenGone, type Absence, type DeletionRules } from '../../diff/decide-deletions.ts';
import { saveAbsences } from '../../store/records/deletion-store.ts';
import { writeTombstones } from '../../store/records/tombstone-store.ts';
import { retrieveAbsent } from './absence-evidence.ts';
import type { PullParts } from '../run/parts.ts';
import { withLease, type Sweep } from '../run/sweep.ts';
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
 * @returns Also `newlyGone`, the records gone for the first time or too soon after it.
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
  return { deleted, newlyGone, isControlFound };
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
