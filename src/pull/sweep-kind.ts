import type { ListedKind } from '../catalog/kind.ts';
import { asMirrored, readFields } from '../mirror/field-store.ts';
import { readQuarantined } from '../mirror/issue-store.ts';
import { claimKind, releaseKind } from '../mirror/kind-lease.ts';
import type { KindReport } from '../mirror/run-store.ts';
import type { SourceClaim } from '../mirror/source-binding.ts';
import { countLive } from '../mirror/status-store.ts';
import { SourceError } from '../source/errors.ts';
import type { ListResponse } from '../source/source.ts';
import { describe } from '../lib/sync-error.ts';
import { redecode } from '../mirror/redecode.ts';
import { endSweep } from './end-sweep.ts';
import type { SweepResult } from './end-sweep.ts';
import { startHeartbeat } from './heartbeat.ts';
import { OtherSourceError } from '../mirror/errors.ts';
import { sameSource } from './guard-source.ts';
import { landPages } from './land-pages.ts';
import { arrivedTogether } from './arrived-together.ts';
import type { Sweep } from './land-page.ts';
import type { PullParts } from './parts.ts';
import { createTally } from './tally.ts';
import type { Tally } from './tally.ts';

/** So many pages share a transaction where they have arrived together: a code-sorted list touches all of the index. */
const PAGES_TOGETHER = 8;

export interface SweepRequest {
  readonly kind: ListedKind;
  readonly runId: number;
  readonly claim: SourceClaim;
}

interface Landed {
  readonly sweep: Sweep;
  readonly tally: Tally;
}

type Ending = Pick<KindReport, 'state' | 'reason' | 'detail'>;

/**
 * Reads the whole list of a kind and lands it page by page.
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
  const { sweep, fieldsBefore } = await beginSweep(parts, request);

  const tally = createTally();
  const stopHeartbeat = startHeartbeat(parts, sweep.lease);
  const ending = await landAll(parts, request, { sweep, tally }).finally(stopHeartbeat);
  const report: KindReport = {
    kind: request.kind.name,
    ...ending,
    certifiedAt: null,
    ...tally.counts(),
    deleted: 0,
    restored: 0,
    requests: source.counts.requests - before.requests,
    retries: source.counts.retries - before.retries,
    durationMs: Math.round(clock.monotonicMs() - startMs),
  };
  await endSweep(parts, sweep, { report, tally, startedAt, fieldsBefore });
  return report;
}

/** Takes the kind's lease, and makes sure that its columns are filled by the rules of this release. */
async function beginSweep(
  { session, clock, owner }: PullParts,
  { kind, runId, claim }: SweepRequest,
): Promise<Pick<SweepResult, 'fieldsBefore'> & { readonly sweep: Sweep }> {
  const now = clock.now();
  const lease = await claimKind(session, { kind: kind.name, owner: owner.name, now, isDead: owner.isDead });
  const mirrored = await asMirrored(session, kind);
  await redecode(session, mirrored, now);
  const fieldsBefore = await readFields(session, kind.name);
  const sweep: Sweep = {
    kind: mirrored,
    lease,
    runId,
    claim,
    knownRows: await countLive(session, kind.name),
    fields: new Map(fieldsBefore), // Landing adds to its own copy.
    quarantined: await readQuarantined(session, kind.name),
  };
  return { sweep, fieldsBefore };
}

/** Lands every page in the order of the sweep; says how the sweep ended. */
async function landAll(parts: PullParts, request: SweepRequest, { sweep, tally }: Landed): Promise<Ending> {
  const stop = new AbortController(); // Where landing fails, requests under way are not waited for.
  const signal = AbortSignal.any([stop.signal, ...(parts.signal ? [parts.signal] : [])]);
  try {
    for await (const responses of arrivedTogether(
      readList(parts, request, { sweep, signal }),
      PAGES_TOGETHER,
    )) {
      const landings = await landPages(parts.session, sweep, { responses, now: parts.clock.now() }).catch(
        (error: unknown) => {
          stop.abort(); // Before the loop ends, which awaits what is under way.
          throw error;
        },
      );
      for (const landing of landings) tally.add(landing);
      showProgress(parts, request, { tally, lastPage: responses.at(-1)?.plan.lastPage ?? null });
    }
    return { state: 'complete', reason: null, detail: null };
  } catch (error) {
    stop.abort();
    if (error instanceof OtherSourceError) await refuse(parts, sweep);
    if (!(error instanceof SourceError)) throw error;
    parts.logger.debug({ kind: request.kind.name, reason: error.reason, err: error }, 'sweep ended early');
    return { state: error.state, reason: error.reason, detail: describe(error) };
  }
}

/** The list's responses, of this mirror's own company. */
function readList(
  { session, source }: PullParts,
  request: SweepRequest,
  { sweep, signal }: { sweep: Sweep; signal: AbortSignal },
): AsyncIterable<ListResponse> {
  let tick = sweep.lease.tick;
  const thorough = sweep.lease.completeSweeps === 0 || sweep.claim.isNew;
  return sameSource(
    source.sweep(request.kind, { thorough, knownRows: sweep.knownRows, tick: () => ++tick, signal }),
    {
      session,
      ...request,
    },
  );
}

function showProgress(
  parts: PullParts,
  { kind }: SweepRequest,
  { tally, lastPage }: { tally: Tally; lastPage: number | null },
): void {
  parts.onProgress?.({ kind: kind.name, pages: tally.pages(), lastPage });
}

/** Ends a sweep of which nothing may land; the error itself ends the run. */
async function refuse({ session, clock }: PullParts, { lease }: Sweep): Promise<void> {
  const end = {
    state: 'invalid',
    reason: 'other_source',
    isComplete: false,
    hasChanges: false,
    now: clock.now(),
  };
  await session.atomically((tx) => releaseKind(tx, lease, end));
}
