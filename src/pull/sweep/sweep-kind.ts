import type { KindReport } from '../../store/runs/run-store.ts';
import { beginSweep, type SweepRequest } from './begin-sweep.ts';
import { endSweep } from './end-sweep.ts';
import { readAhead } from '../../lib/read-ahead.ts';
import type { PullParts } from '../run/parts.ts';
import { readList, type Ending, type ListReading } from './read-list.ts';
import { concludeAbsences, type Concluded } from '../deletions/conclude-absences.ts';
import { returnRows, type WithoutRow } from './return-rows.ts';
import { createTally } from '../land/tally.ts';
import { compareLive } from '../../diff/plan-repairs.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { liveIds } from '../../store/records/record-store.ts';

/**
 * Reads the whole list of a kind, lands it page by page, and concludes which records are gone. A fault of the source, or a list
 * of another company, ends the sweep and is its report; what has landed stays, because it was true.
 *
 * @throws {LeaseError} If another process sweeps this kind. {MirrorError} If the database fails.
 */
export async function sweepKind(parts: PullParts, request: SweepRequest): Promise<KindReport> {
  const { source, clock } = parts;
  const startedAt = clock.now();
  const startMs = clock.monotonicMs();
  const before = { ...source.counts };
  const { sweep, stopHeartbeat, fieldsBefore } = await beginSweep(parts, request);
  const { kind, rules } = request;
  const reading: ListReading = { kind, rules, sweep, tally: createTally() };
  try {
    const ending = await readList(parts, reading);
    const { concluded, without } = await conclude(parts, reading, ending);
    const { mended: returned, ...counts } = reading.tally.counts();
    const report: KindReport = {
      kind: kind.name,
      ...outcomeOf(ending, concluded, without, returned + concluded.mended),
      certifiedAt: ending.state === 'complete' ? ending.verdict.certifiedAt : null,
      ...counts,
      unchanged: counts.unchanged + returned, // By the service.
      deleted: concluded.deleted,
      requests: source.counts.requests - before.requests,
      retries: source.counts.retries - before.retries,
      durationMs: Math.round(clock.monotonicMs() - startMs),
    };
    await endSweep(parts, reading, { ending, concluded, report, startedAt, fieldsBefore });
    return report;
  } finally {
    stopHeartbeat();
  }
}

/** Compares the mirror with a list that was read to its end: restores missing rows, and concludes absences. */
async function conclude(parts: PullParts, reading: ListReading, ending: Ending) {
  const { sweep, tally, rules } = reading;
  const { kind, began } = sweep;
  const { controlFailures } = sweep.lease;
  const nothing = { deleted: 0, waiting: 0, neverListed: 0, kept: 0, mended: 0, controlFailures };
  if (ending.state !== 'complete') return { concluded: nothing, without: { quarantined: 0, missing: 0 } };
  const list = ending.verdict;
  const comparison = compareLive(list.spans, list.verdict.certified ? list.verdict : null, began ?? 0);
  for await (const ids of readAhead(liveIds(parts.session, kind.name))) comparison.take(ids);
  const outside = comparison.outside();
  const suppressed = await readSuppressed(parts.session, kind.name); // Kept out on purpose.
  const missing = comparison.missing().filter((id) => !suppressed.has(id));
  if (parts.signal?.aborted) {
    const without = { quarantined: 0, missing: missing.length };
    return { concluded: { ...nothing, waiting: outside.length }, without };
  }
  const without = await returnRows(parts, reading, missing);
  const facts = { list, tally, outside, rules: rules.deletions };
  return { concluded: await concludeAbsences(parts, sweep, facts), without };
}

/** How a sweep ended: certified only where the list is known exactly and the mirror's live rows are exactly that list. */
function outcomeOf(ending: Ending, concluded: Concluded, without: WithoutRow, mended: number) {
  const { waiting, neverListed, kept } = concluded;
  const { state, reason, detail } = ending;
  if (ending.state !== 'complete' || !ending.verdict.isOfThisSweep) return { state, reason, detail };
  const complete = (why: string, what: string) => ({ state: 'complete' as const, reason: why, detail: what });
  if (without.missing > 0)
    return complete(
      'rows_missing',
      `${without.missing} records of the list have no live row; the next pull tries again`,
    );
  if (without.quarantined > 0)
    return complete('quarantined', `no row could be made of ${without.quarantined} records of the list`);
  if (waiting > 0 && waiting === neverListed)
    return complete('never_listed', `${waiting} rows that an answer named are in no list yet`);
  if (waiting > 0)
    return complete(
      'absences_unproven',
      `${waiting} rows that the list lacks wait for proof, or for a person`,
    );
  const told = mended > 0 ? `${mended} rows that something else had written to were put right` : null;
  return { state: 'certified' as const, reason: kept > 0 ? 'older_kept' : null, detail: told };
}
