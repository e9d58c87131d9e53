import type { ListedKind } from '../catalog/kind.ts';
import { describe } from '../lib/sync-error.ts';
import { LeaseError } from '../mirror/errors.ts';
import { finishRun, saveKindReport, startRun } from '../mirror/run-store.ts';
import type { KindReport, RunState } from '../mirror/run-store.ts';
import { bindSource } from '../mirror/source-binding.ts';
import { confirmCompany, namesCompany } from './guard-source.ts';
import type { PullParts } from './parts.ts';
import { sweepKind } from './sweep-kind.ts';

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
    await bindSource(session, { baseUrl: request.baseUrl, acceptNew: request.acceptNewSource });
    if (!request.acceptNewSource) await confirmCompany(parts, request.kinds);
    const kinds = await sweepAll(parts, runId, request);
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

async function sweepAll(
  parts: PullParts,
  runId: number,
  { kinds, acceptNewSource }: PullRequest,
): Promise<KindReport[]> {
  const reports = new Map<ListedKind, KindReport>();
  for (const kind of identifyingFirst(kinds)) {
    const report = await sweepKind(parts, { kind, runId, acceptNewSource }).catch((error: unknown) => {
      if (error instanceof LeaseError) return saveBusy(parts, runId, { kind, error });
      throw error;
    });
    reports.set(kind, report);
  }
  return kinds.flatMap((kind) => reports.get(kind) ?? []);
}

/** Reports a kind that somebody else is sweeping at this moment. */
async function saveBusy(
  { session, clock }: PullParts,
  runId: number,
  { kind, error }: Busy,
): Promise<KindReport> {
  const report: KindReport = {
    ...NOTHING_DONE,
    kind: kind.name,
    state: 'aborted',
    reason: 'busy',
    detail: describe(error),
  };
  await session.atomically((tx) => saveKindReport(tx, runId, { report, startedAt: clock.now() }));
  return report;
}

interface Busy {
  readonly kind: ListedKind;
  readonly error: LeaseError;
}

const NOTHING_DONE = {
  certifiedAt: null,
  ...{ pages: 0, rows: 0, created: 0, updated: 0, unchanged: 0, quarantined: 0 },
  ...{ deleted: 0, restored: 0, requests: 0, retries: 0, durationMs: 0 },
};

/** Kinds that name their company go first, so that another company's token is found out before anything lands. */
function identifyingFirst(kinds: readonly ListedKind[]): ListedKind[] {
  return [...kinds.filter(namesCompany), ...kinds.filter((kind) => !namesCompany(kind))];
}

function runState(reports: readonly KindReport[]): RunState {
  if (reports.every(({ state }) => state === 'complete' || state === 'certified')) return 'done';
  return reports.some(({ reason }) => reason === 'interrupted') ? 'interrupted' : 'incomplete';
}
