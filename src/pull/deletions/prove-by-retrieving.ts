import type { Absence, DeletionRules } from '../../diff/absence.ts';
import { isProvenGone, judgeAnswer } from '../../diff/decide-deletions.ts';
import { saveAbsences } from '../../store/records/deletion-store.ts';
import { writeTombstones } from './tombstone-store.ts';
import { retrieveAbsent, type RetrievalRequest } from './absence-evidence.ts';
import type { PullParts } from '../parts.ts';
import { withLease, type Sweep } from '../reading.ts';
import { inChunks } from '../../db/session/sql-text.ts';

const RETRIEVED_AT_ONCE = 100;

interface ProofRequest extends RetrievalRequest {
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
  request: ProofRequest,
): Promise<{ deleted: number; isControlFound: boolean }> {
  let deleted = 0;
  for (const batch of inChunks(request.ids, RETRIEVED_AT_ONCE)) {
    const first = await retrieveOnce(parts, sweep, { ...request, ids: batch });
    if (first === null) return { deleted, isControlFound: false };
    deleted += first.deleted;
    const again = first.gone.filter((absence) => isProvenGone(absence, parts.clock.now(), request.rules));
    if (again.length === 0) continue;
    const second = await retrieveOnce(parts, sweep, { ...request, ids: again.map((absence) => absence.id) });
    deleted += second?.deleted ?? 0;
  }
  return { deleted, isControlFound: true };
}

/**
 * Retrieves absent records once, notes the answers, and marks the records that are proven gone.
 * @returns Also `gone`, the records gone for the first time or too soon after it; null if the answers prove nothing.
 */
async function retrieveOnce(parts: PullParts, sweep: Sweep, request: ProofRequest) {
  const { noted, rules } = request;
  const answers = await retrieveAbsent(parts, { ...request, ticks: sweep.ticks });
  if (answers === null) return null;
  const now = parts.clock.now();
  const proven: string[] = [];
  const changed: Absence[] = [];
  for (const [id, answer] of answers) {
    const before = noted.get(id);
    if (before === undefined) continue;
    const after = judgeAnswer(before, answer, now, rules);
    if (after === null) proven.push(id);
    else if (after !== before) changed.push(after);
  }
  for (const absence of changed) noted.set(absence.id, absence);
  const seen = changed.map((absence) => ({ ...absence, lastSeenAt: null })); // Noted before.
  await withLease(parts, sweep, (tx) => saveAbsences(tx, sweep.kind.name, seen));
  const deleted = await tombstoneRecords(parts, sweep, proven, 'retrieve');
  return { deleted, gone: changed.filter((absence) => answers.get(absence.id) === 'gone') };
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
