import type { KindReport } from '../mirror/run-store.ts';
import { beginSweep } from './begin-sweep.ts';
import type { SweepRequest } from './begin-sweep.ts';
import { compareRows } from './compare-rows.ts';
import { endSweep } from './end-sweep.ts';
import { outcomeOf } from './outcome.ts';
import type { PullParts } from './parts.ts';
import { readList } from './read-list.ts';
import type { Ending, Reading } from './read-list.ts';
import { returnRows } from './return-rows.ts';
import type { WithoutRow } from './return-rows.ts';
import { settleAbsences } from './settle-absences.ts';
import type { Settled } from './settle-absences.ts';
import { createTally } from './tally.ts';

/**
 * Reads the whole list of a kind, lands it page by page, and concludes what has gone from it.
 *
 * A fault of the source, or a list of another company, ends the sweep and is its report; what had landed by then stays,
 * because it was true.
 *
 * @throws {LeaseError} Where somebody else sweeps this kind. @throws {MirrorError} Where the database fails.
 */
export async function sweepKind(parts: PullParts, request: SweepRequest): Promise<KindReport> {
  const { source, clock } = parts;
  const startedAt = clock.now();
  const [startMs, before] = [clock.monotonicMs(), { ...source.counts }];
  const { sweep, stopHeartbeat, fieldsBefore } = await beginSweep(parts, request);
  const reading: Reading = { sweep, tally: createTally() };
  try {
    const ending = await readList(parts, request, reading);
    const { settled, without } = await settle(parts, request, { ...reading, ending });
    const { mended: returned, ...counts } = reading.tally.counts();
    const report: KindReport = {
      kind: request.kind.name,
      ...outcomeOf(ending, { settled, without, mended: returned + settled.mended }),
      certifiedAt: ending.state === 'complete' ? ending.verdict.certifiedAt : null,
      ...counts,
      unchanged: counts.unchanged + returned, // By the service.
      deleted: settled.deleted,
      requests: source.counts.requests - before.requests,
      retries: source.counts.retries - before.retries,
      durationMs: Math.round(clock.monotonicMs() - startMs),
    };
    await endSweep(parts, reading, { ending, settled, report, startedAt, fieldsBefore });
    return report;
  } finally {
    stopHeartbeat();
  }
}

interface Compared {
  readonly settled: Settled;
  readonly without: WithoutRow;
}

/** Compares the mirror with the list: rows that are missing come back; only a list that is known exactly says what is gone. */
async function settle(
  parts: PullParts,
  request: SweepRequest,
  { sweep, tally, ending }: Reading & { readonly ending: Ending },
): Promise<Compared> {
  const { controlFailures } = sweep.lease;
  const nothing: Settled = { deleted: 0, waiting: 0, mended: 0, controlFailures };
  if (ending.state !== 'complete') return { settled: nothing, without: { quarantined: 0, missing: 0 } };
  const list = ending.verdict;
  const { missing, outside } = await compareRows(parts.session, sweep, list);
  if (parts.signal?.aborted) {
    const without = { quarantined: 0, missing: missing.length };
    return { settled: { ...nothing, waiting: outside.length }, without };
  }
  const without = await returnRows(parts, request, { sweep, tally, missing });
  if (!list.verdict.certified) return { settled: nothing, without };
  const { verdict: certificate, sentAt } = list;
  const absences = { certificate, sentAt, tally, outside, rules: request.rules.deletions };
  return { settled: await settleAbsences(parts, sweep, absences), without };
}
