import type { ListedKind } from '../catalog/kind.ts';
import { describe } from '../lib/sync-error.ts';
import { LeaseError } from '../mirror/errors.ts';
import { finishRun, saveKindReport, startRun } from '../mirror/run-store.ts';
import type { KindReport, RunState } from '../mirror/run-store.ts';
import { claimSource } from '../mirror/source-binding.ts';
import type { SourceClaim } from '../mirror/source-binding.ts';
import { confirmCompany, namesCompany } from './guard-source.ts';
import type { PullParts } from './parts.ts';
import { sweepKind } from './sweep-kind.ts';
import type { SweepRequest } from './sweep-kind.ts';

export interface PullRequest {
  readonly kinds: readonly ListedKind[];
  readonly baseUrl: string;
  /** Accepts another base URL or company for this mirror. */
  readonly acceptNewSource: boolean;
  readonly keepRunsDays: number | null;
}

export interface PullReport {
  readonly runId: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly kinds: readonly KindReport[];
}

/**
 * Sweeps kinds one after the other as one run; a kind that fails never stops the others.
 *
 * @throws {MirrorError} {OtherSourceError} {LeaseError} What concerns the whole mirror ends the run, and is recorded in it.
 */
export async function pullKinds(parts: PullParts, request: PullRequest): Promise<PullReport> {
  const { session, clock, owner } = parts;
  const startedAt = clock.now();
  const startMs = clock.monotonicMs();
  const runId = await startRun(session, {
    command: 'pull',
    kinds: request.kinds.map(({ name }) => name),
    owner: owner.name,
    now: startedAt,
    isDead: owner.isDead,
  });
  const end = (state: RunState, reason: string | null): Promise<void> =>
    finishRun(session, runId, { state, reason, now: clock.now(), keepDays: request.keepRunsDays });
  try {
    const claim = await claimSource(session, {
      baseUrl: request.baseUrl,
      acceptNew: request.acceptNewSource,
    });
    await confirmCompany(parts, request.kinds, claim);
    const kinds = await sweepAll(parts, request.kinds, { runId, claim });
    await end(runState(kinds), null);
    return {
      runId,
      startedAt: startedAt.toISOString(),
      durationMs: Math.round(clock.monotonicMs() - startMs),
      kinds,
    };
  } catch (error) {
    await end('failed', error instanceof Error ? error.message : String(error)).catch((second: unknown) => {
      parts.logger.error({ err: second, runId }, 'run could not be closed'); // The first error is the one to report.
    });
    throw error;
  }
}

interface Reading {
  readonly runId: number;
  readonly claim: SourceClaim;
}

async function sweepAll(
  parts: PullParts,
  kinds: readonly ListedKind[],
  { runId, claim }: Reading,
): Promise<KindReport[]> {
  const reports = new Map<ListedKind, KindReport>();
  for (const kind of identifyingFirst(kinds)) {
    const report = parts.signal?.aborted
      ? notSwept(kind, INTERRUPTED)
      : await trySweep(parts, { kind, runId, claim });
    reports.set(kind, report);
  }
  return kinds.flatMap((kind) => reports.get(kind) ?? []);
}

/** Sweeps a kind, or reports that somebody else is sweeping it at this moment. */
async function trySweep(parts: PullParts, request: SweepRequest): Promise<KindReport> {
  try {
    return await sweepKind(parts, request);
  } catch (error) {
    if (!(error instanceof LeaseError)) throw error;
    const report = notSwept(request.kind, { reason: 'busy', detail: describe(error) });
    await parts.session.atomically((tx) =>
      saveKindReport(tx, request.runId, { report, startedAt: parts.clock.now() }),
    );
    return report;
  }
}

const INTERRUPTED = { reason: 'interrupted', detail: 'The run was interrupted before this kind.' };

function notSwept({ name }: ListedKind, why: Pick<KindReport, 'reason' | 'detail'>): KindReport {
  const counts = {
    pages: 0,
    rows: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    quarantined: 0,
    deleted: 0,
    restored: 0,
  };
  return {
    kind: name,
    state: 'aborted',
    ...why,
    certifiedAt: null,
    ...counts,
    requests: 0,
    retries: 0,
    durationMs: 0,
  };
}

/** Kinds that name their company go first, so that another company's token is found out before anything lands. */
function identifyingFirst(kinds: readonly ListedKind[]): ListedKind[] {
  return [...kinds.filter(namesCompany), ...kinds.filter((kind) => !namesCompany(kind))];
}

function runState(reports: readonly KindReport[]): RunState {
  if (reports.every(({ state }) => state === 'complete' || state === 'certified')) return 'done';
  return reports.some(({ reason }) => reason === 'interrupted') ? 'interrupted' : 'incomplete';
}
