import type { KindReport } from '../mirror/run-store.ts';
import { beginSweep } from './begin-sweep.ts';
import type { SweepRequest } from './begin-sweep.ts';
import { endSweep } from './end-sweep.ts';
import type { PullParts } from './parts.ts';
import { readList } from './read-list.ts';
import type { Ending, Reading } from './read-list.ts';
import { concludeAbsences } from './conclude-absences.ts';
import type { Concluded } from './conclude-absences.ts';
import { createTally } from './tally.ts';

/**
 * Reads the whole list of a kind, lands it page by page, and concludes what has gone from it.
 *
 * A fault of the source ends the sweep and is its report; what had landed by then stays, because it was true.
 *
 * @throws {LeaseError} Where somebody else sweeps this kind. @throws {MirrorError} Where the database fails.
 * @throws {OtherSourceError} Where the list is another company's.
 */
export async function sweepKind(parts: PullParts, request: SweepRequest): Promise<KindReport> {
  const { source, clock } = parts;
  const startedAt = clock.now();
  const [startMs, before] = [clock.monotonicMs(), { ...source.counts }];
  const { sweep, stopHeartbeat, fieldsBefore } = await beginSweep(parts, request);
  const reading: Reading = { sweep, tally: createTally() };
  try {
    const ending = await readList(parts, request, reading);
    const concluded = await conclude(parts, request, { ...reading, ending });
    const report: KindReport = {
      kind: request.kind.name,
      state: outcomeOf(ending),
      reason: ending.reason,
      detail: ending.detail,
      certifiedAt: ending.state === 'complete' ? ending.verdict.certifiedAt : null,
      ...reading.tally.counts(),
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

/** Only a list that was read to its end says that something may be gone. */
async function conclude(
  parts: PullParts,
  { rules }: SweepRequest,
  { sweep, tally, ending }: Reading & { readonly ending: Ending },
): Promise<Concluded> {
  if (ending.state !== 'complete' || parts.signal?.aborted)
    return { deleted: 0, controlFailures: sweep.lease.controlFailures };
  return concludeAbsences(parts, sweep, { list: ending.verdict, tally, rules: rules.deletions });
}

function outcomeOf(ending: Ending): KindReport['state'] {
  return ending.state === 'complete' && ending.verdict.isOfThisSweep ? 'certified' : ending.state;
}
