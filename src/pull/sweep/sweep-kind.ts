import type { KindReport } from '../../store/runs/run-store.ts';
import type { ListedKind } from '../../catalog/kind.ts';
import { withReading, type ReadingRequest } from './open-reading.ts';
import type { KindReading, Sweep } from '../reading.ts';
import { hasDrift } from '../../store/kinds/drift-store.ts';
import { readMeta } from '../../store/kinds/meta.ts';
import { countLiveRows } from '../../store/kinds/status-store.ts';
import { endSweep } from './end-sweep.ts';
import { readAhead } from '../../lib/read-ahead.ts';
import type { PullParts } from '../parts.ts';
import { countTraffic } from '../record-run.ts';
import { readList, type ReadingEnd } from './read-list.ts';
import { NO_ABSENCES, concludeAbsences, readKnown } from '../deletions/conclude-absences.ts';
import { createTally, type Tally } from '../land/tally.ts';
import { compareLive } from '../../diff/compare-live.ts';
import { readRecordsWithoutRow } from '../../store/records/issue-store.ts';
import { readSuppressed } from '../../store/records/erasure-store.ts';
import { liveIds } from '../../store/records/record-store.ts';

/**
 * Reads the whole list of a kind, lands it page by page, and concludes which records are gone. A fault of the source, or a list
 * of another company, ends the sweep and is its report; what has landed stays, because it was true.
 * @throws {LeaseError} If another process sweeps this kind. {MirrorError} If the database fails.
 */
export async function sweepKind(parts: PullParts, request: SweepRequest): Promise<KindReport> {
  const startedAt = parts.clock.now();
  const traffic = countTraffic(parts, request.kind.name);
  return withReading(parts, request, 'whole', async (reading) => {
    const sweep = await toSweep(parts, request, reading);
    const tally = createTally();
    const ending = await readList(parts, sweep, tally);
    const { concluded, rowless } = await concludeSweep(parts, sweep, tally, ending);
    const counts = tally.counts();
    const report: KindReport = {
      kind: sweep.kind.name,
      ...sweepOutcome(sweep.kind.name, ending, { concluded, rowless }),
      certifiedAt: ending.state === 'complete' ? ending.list.certifiedAt : null,
      ...counts,
      rows: counts.rows - rowless.suppressed,
      unchanged: counts.unchanged - rowless.suppressed,
      deleted: concluded.deleted,
      ...traffic(),
    };
    await endSweep(parts, sweep, { tally, ending, concluded, report, startedAt });
    return report;
  });
}

export type SweepRequest = ReadingRequest<ListedKind> & { readonly runId: number };

/** Adds what only the reading of a whole list needs to know. */
async function toSweep(
  { session }: PullParts,
  { kind: { name }, runId, rules, binding }: SweepRequest,
  reading: KindReading<ListedKind>,
): Promise<Sweep> {
  const [knownRows, hasHoles, whole] = await Promise.all([
    countLiveRows(session, name),
    hasDrift(session, { kind: name, code: 'holes', field: null }),
    binding.isNew ? null : readMeta(session, `whole.${name}`),
  ]);
  const known = { knownRows, hasHoles, maxWholeRows: Number(whole ?? 0) };
  return { ...reading, ...known, runId, rules, began: reading.lease.tick };
}

/** Compares the mirror with a list that was read to its end, and concludes absences. `rowless`: records of the list without a live row. */
async function concludeSweep(parts: PullParts, sweep: Sweep, tally: Tally, ending: ReadingEnd) {
  const { kind, began } = sweep;
  const { controlFailures } = sweep.lease;
  const noConclusion = { ...NO_ABSENCES, controlFailures };
  if (ending.state !== 'complete')
    return { concluded: noConclusion, rowless: { quarantined: 0, missing: 0, suppressed: 0 } };
  const { list } = ending;
  const known = await readKnown(parts, sweep, list, tally);
  const comparison = compareLive(list.spans, known.evidence?.lacks ?? null, began);
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
  const concluded = await concludeAbsences(parts, sweep, known, outside);
  return { concluded, rowless };
}

/** How a sweep ended: certified only where the list is known exactly and the mirror's live rows are exactly that list. */
function sweepOutcome(
  kind: string,
  ending: ReadingEnd,
  { concluded, rowless }: Awaited<ReturnType<typeof concludeSweep>>,
) {
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
  const isCut = ending.list.mayGoOn ? 'cut_off' : null;
  return { state: 'certified' as const, reason: keptOlder > 0 ? 'older_kept' : isCut, detail: null };
}
