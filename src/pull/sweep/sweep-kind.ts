import type { KindReport } from '../../store/runs/run-store.ts';
import { beginSweep, type SweepRequest } from './begin-sweep.ts';
import { endSweep } from './end-sweep.ts';
import { readAhead } from '../../lib/read-ahead.ts';
import type { PullParts } from '../run/parts.ts';
import { countTraffic } from '../run/record-run.ts';
import { readList, type ReadingEnd, type ListReading } from './read-list.ts';
import {
  NO_ABSENCES,
  concludeAbsences,
  readKnown,
  type AbsenceConclusion,
} from '../deletions/conclude-absences.ts';
import { createTally } from '../land/tally.ts';
import { compareLive } from '../../diff/compare-live.ts';
import { readRecordsWithoutRow } from '../../store/records/issue-store.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { liveIds } from '../../store/records/record-store.ts';

/**
 * Reads the whole list of a kind, lands it page by page, and concludes which records are gone. A fault of the source, or a list
 * of another company, ends the sweep and is its report; what has landed stays, because it was true.
 *
 * @throws {LeaseError} If another process sweeps this kind. {MirrorError} If the database fails.
 */
export async function sweepKind(parts: PullParts, request: SweepRequest): Promise<KindReport> {
  const startedAt = parts.clock.now();
  const traffic = countTraffic(parts);
  const { sweep, stopHeartbeat, fieldsBefore } = await beginSweep(parts, request);
  const { kind, rules } = request;
  const reading: ListReading = { kind, rules, sweep, tally: createTally() };
  try {
    const ending = await readList(parts, reading);
    const { concluded, rowless } = await concludeSweep(parts, reading, ending);
    const counts = reading.tally.counts();
    const report: KindReport = {
      kind: kind.name,
      ...sweepOutcome(kind.name, ending, concluded, rowless),
      certifiedAt: ending.state === 'complete' ? ending.list.certifiedAt : null,
      ...counts,
      rows: counts.rows - rowless.suppressed,
      unchanged: counts.unchanged - rowless.suppressed,
      deleted: concluded.deleted,
      ...traffic(),
    };
    await endSweep(parts, reading, { ending, concluded, report, startedAt, fieldsBefore });
    return report;
  } finally {
    stopHeartbeat();
  }
}

/** Compares the mirror with a list that was read to its end, and concludes absences. */
async function concludeSweep(parts: PullParts, reading: ListReading, ending: ReadingEnd) {
  const { sweep, tally, rules } = reading;
  const { kind, began } = sweep;
  const { controlFailures } = sweep.lease;
  const noConclusion = { ...NO_ABSENCES, controlFailures };
  if (ending.state !== 'complete')
    return { concluded: noConclusion, rowless: { quarantined: 0, missing: 0, suppressed: 0 } };
  const { list } = ending;
  const known = await readKnown(parts, sweep, list, tally);
  const comparison = compareLive(list.spans, known.evidence?.lacks ?? null, began ?? 0);
  for await (const ids of readAhead(liveIds(parts.session, kind.name))) comparison.take(ids);
  const outside = comparison.outside();
  const suppressed = await readSuppressed(parts.session, kind.name); // Kept out on purpose.
  const absent = comparison.missing();
  const missing = absent.filter((id) => !suppressed.has(id));
  const withoutRow = await readRecordsWithoutRow(parts.session, kind.name);
  const quarantined = missing.filter((id) => withoutRow.has(id)).length;
  const rowless = {
    quarantined,
    missing: missing.length - quarantined,
    suppressed: absent.length - missing.length,
  };
  if (parts.signal?.aborted) return { concluded: { ...noConclusion, waiting: outside.length }, rowless };
  const concluded = await concludeAbsences(parts, sweep, known, { outside, rules: rules.deletions });
  return { concluded, rowless };
}

/** Records of the list that have no live row. */
interface WithoutRow {
  /** Records that cannot become rows; each has an issue. */
  readonly quarantined: number;
  readonly missing: number;
  /** Records that `forget --suppress` keeps out: they count as no rows. */
  readonly suppressed: number;
}

/** How a sweep ended: certified only where the list is known exactly and the mirror's live rows are exactly that list. */
function sweepOutcome(kind: string, ending: ReadingEnd, concluded: AbsenceConclusion, rowless: WithoutRow) {
  const { waiting, neverListed, keptOlder, surplus } = concluded;
  const { state, reason, detail } = ending;
  if (ending.state !== 'complete' || !ending.list.isOfThisSweep) return { state, reason, detail };
  const complete = (why: string, what: string) => ({ state: 'complete' as const, reason: why, detail: what });
  if (rowless.missing + surplus > 0)
    return complete(
      'rows_differ',
      `${rowless.missing} records of the list have no live row, and ${surplus} live rows are not in the list; if this persists: bms-sync backfill ${kind} --all`,
    );
  if (rowless.quarantined > 0)
    return complete('quarantined', `${rowless.quarantined} records of the list could not be stored as rows`);
  if (waiting > 0 && waiting === neverListed)
    return complete('never_listed', `${waiting} returned records are not in the list yet`);
  if (waiting > 0)
    return complete('absences_unproven', `${waiting} rows that the list lacks are still in the mirror`);
  return { state: 'certified' as const, reason: keptOlder > 0 ? 'older_kept' : null, detail: null };
}
