import type { KindReport } from '../../mirror/runs/run-store.ts';
import { beginSweep } from './begin-sweep.ts';
import type { SweepRequest } from './begin-sweep.ts';
import { compareRows } from '../deletions/compare-rows.ts';
import { endSweep } from './end-sweep.ts';
import { outcomeOf } from './outcome.ts';
import type { PullParts } from '../run/parts.ts';
import { readList } from './read-list.ts';
import type { Ending, ListReading } from './read-list.ts';
import { concludeAbsences } from '../deletions/conclude-absences.ts';
import type { Concluded } from '../deletions/conclude-absences.ts';
import { returnRows } from './return-rows.ts';
import type { WithoutRow } from './return-rows.ts';
import { createTally } from '../land/tally.ts';

/**
 * Reads the whole list of a kind, lands it page by page, and concludes which records are gone.
 *
 * A fault of the source, or a list of another company, ends the sweep and is its report. Records that landed before it
 * stay, because they were true.
 *
 * @throws {LeaseError} If another process sweeps this kind.
 * @throws {MirrorError} If the database fails.
 */
export async function sweepKind(parts: PullParts, request: SweepRequest): Promise<KindReport> {
  const { source, clock } = parts;
  const startedAt = clock.now();
  const [startMs, before] = [clock.monotonicMs(), { ...source.counts }];
  const { sweep, stopHeartbeat, fieldsBefore } = await beginSweep(parts, request);
  const reading: ListReading = { sweep, tally: createTally() };
  try {
    const ending = await readList(parts, request, reading);
    const { concluded, without } = await conclude(parts, request, { ...reading, ending });
    const { mended: returned, ...counts } = reading.tally.counts();
    const report: KindReport = {
      kind: request.kind.name,
      ...outcomeOf(ending, { concluded, without, mended: returned + concluded.mended }),
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

interface Compared {
  readonly concluded: Concluded;
  readonly without: WithoutRow;
}

/** Compares the mirror with a list that was read to its end: restores missing rows, and concludes absences. */
async function conclude(
  parts: PullParts,
  request: SweepRequest,
  { sweep, tally, ending }: ListReading & { readonly ending: Ending },
): Promise<Compared> {
  const { controlFailures } = sweep.lease;
  const nothing: Concluded = { deleted: 0, waiting: 0, mended: 0, controlFailures };
  if (ending.state !== 'complete') return { concluded: nothing, without: { quarantined: 0, missing: 0 } };
  const list = ending.verdict;
  const { missing, outside } = await compareRows(parts.session, sweep, list);
  if (parts.signal?.aborted) {
    const without = { quarantined: 0, missing: missing.length };
    return { concluded: { ...nothing, waiting: outside.length }, without };
  }
  const without = await returnRows(parts, request, { sweep, tally, missing });
  const reading = { list, tally, outside, rules: request.rules.deletions };
  return { concluded: await concludeAbsences(parts, sweep, reading), without };
}
