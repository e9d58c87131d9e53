import PQueue from 'p-queue';
import type { ListedKind } from '../../catalog/kind.ts';
import { errorText } from '../../lib/sync-error.ts';
import { createDeadline } from '../../lib/time/deadline.ts';
import { LeaseError, OtherSourceError } from '../../db/session/errors.ts';
import { isReadToEnd, saveKindReport, type KindReport } from '../../store/runs/run-store.ts';
import { openSourceBinding, readCompanies, type SourceBinding } from '../source-binding.ts';
import { holdUntilRecognized, sortKindsByCompany } from './recognize-company.ts';
import { withoutOffKinds } from '../optional-kinds.ts';
import type { Progress, PullParts, PullSettings } from '../parts.ts';
import { OTHER_SOURCE } from './read-list.ts';
import { prepareReports, recordRun, type RunFacts } from '../record-run.ts';
import { sweepKind, type SweepRequest } from './sweep-kind.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import { SourceError } from '../../source/http/errors.ts';

export interface PullRequest extends PullSettings {
  readonly kinds: readonly ListedKind[];
  /** The requested run that this work belongs to, if there is one. */
  readonly runId?: number;
  /** Accepts another base URL or company for this mirror. */
  readonly acceptNewSource: boolean;
}

export interface PullReport extends RunFacts {
  readonly kinds: readonly KindReport[];
}

/**
 * Sweeps kinds side by side as one run; a kind that fails never stops the others.
 * @throws {MirrorError} {LeaseError} A fault of the whole mirror ends the run and is recorded in it. An
 * {OtherSourceError} of the base URL or of every kind does, too.
 */
export async function pullKinds(parts: PullParts, request: PullRequest): Promise<PullReport> {
  const { kinds, baseUrl, acceptNewSource } = request;
  const { result, ...facts } = await recordRun(parts, { command: 'pull', ...request }, async (runId) => {
    const binding = await openSourceBinding(parts.session, baseUrl, acceptNewSource);
    const shown = await withoutOffKinds(parts, kinds);
    const sorted = await sortKindsByCompany(parts.session, shown);
    const swept = await sweepSideBySide(parts, sorted, { runId, binding, rules: request });
    const reports = kinds.flatMap((kind) => swept.get(kind) ?? []);
    const reasons = reports.map((report) => report.reason);
    if (binding.refusal !== null && reports.length > 0 && reasons.every((reason) => reason === OTHER_SOURCE))
      throw binding.refusal;
    const state = reasons.includes('interrupted') ? 'interrupted' : 'incomplete';
    return { state: reports.every(isReadToEnd) ? 'done' : state, result: reports };
  });
  await prepareReports(parts, kinds);
  return { ...facts, kinds: result.map(withUtcInstants) };
}

/**
 * Sweeps as many kinds at once as the source has requests under way.
 * @throws The first fault of the whole mirror, which stops all of them.
 */
async function sweepSideBySide(
  parts: PullParts,
  kinds: readonly ListedKind[],
  request: Omit<SweepRequest, 'kind'>,
): Promise<ReadonlyMap<ListedKind, KindReport>> {
  const reports = new Map<ListedKind, KindReport>();
  const underWay = new Set<string>();
  const onProgress = (progress: Progress): void => {
    const [first] = underWay; // A line that named another kind with every page could not be read.
    if (progress.kind === first) parts.onProgress?.({ ...progress, others: underWay.size - 1 });
  };
  const fault = new AbortController();
  const { signal, release } = createDeadline(null, [parts.signal, fault.signal]);
  const sweep = async (kind: ListedKind): Promise<void> => {
    parts.onProgress?.({ kind: kind.name, pages: 0, lastPage: null, rows: 0, others: underWay.size });
    underWay.add(kind.name);
    try {
      reports.set(kind, await trySweep({ ...parts, signal, onProgress }, { ...request, kind }));
    } catch (error) {
      fault.abort(error);
    } finally {
      underWay.delete(kind.name);
    }
  };
  const queue = new PQueue({ concurrency: parts.source.concurrency });
  await queue.addAll(kinds.map((kind) => () => sweep(kind)));
  release();
  fault.signal.throwIfAborted();
  return reports;
}

/** Sweeps a kind, or reports that another process is sweeping it, or that the run was interrupted before. */
async function trySweep(parts: PullParts, request: SweepRequest): Promise<KindReport> {
  if (parts.signal?.aborted) return unsweptReport(request.kind, INTERRUPTED);
  try {
    return await sweepKind(parts, request);
  } catch (error) {
    if (!(error instanceof LeaseError)) throw error;
    const why = { reason: 'busy', detail: errorText(error) };
    const report = { ...unsweptReport(request.kind, why), state: 'busy' } as const;
    const run = { runId: request.runId, owner: parts.owner };
    await parts.session.atomically((tx) => saveKindReport(tx, run, report, parts.clock.now()));
    return report;
  }
}

const INTERRUPTED = { reason: 'interrupted', detail: 'The run was interrupted before this kind.' };

/** The database's instants are UTC by contract; a reader of a report must not take them for local time. */
export function withUtcInstants(report: KindReport): KindReport {
  const { certifiedAt } = report;
  return { ...report, certifiedAt: certifiedAt === null ? null : parseInstant(certifiedAt).toISOString() };
}

/** Reports a kind of which a run has landed nothing. */
export function unsweptReport(kind: ListedKind, why: Pick<KindReport, 'reason' | 'detail'>): KindReport {
  const rows = { rows: 0, created: 0, updated: 0, deleted: 0, restored: 0, unchanged: 0, quarantined: 0 };
  const traffic = { pages: 0, requests: 0, retries: 0, durationMs: 0 };
  return { kind: kind.name, state: 'aborted', ...why, certifiedAt: null, ...rows, ...traffic };
}

/** Finds the kinds that a pull would refuse as another company's, with the reasons; lands nothing. */
export async function findForeignKinds(
  parts: Pick<PullParts, 'session' | 'source' | 'signal'>,
  kinds: readonly ListedKind[],
  binding: SourceBinding,
): Promise<ReadonlyMap<string, OtherSourceError>> {
  const foreign = new Map<string, OtherSourceError>();
  const { session, source, signal } = parts;
  for (const kind of await sortKindsByCompany(session, kinds)) {
    const companies = await readCompanies(session, kind, binding.isNew);
    const pages = source.pages(kind, { from: 1, to: Infinity }, { signal });
    const responses = holdUntilRecognized(parts, pages, { binding, companies });
    try {
      await responses.next(); // It comes once the list is recognised.
    } catch (error) {
      if (error instanceof OtherSourceError) {
        binding.refusal ??= error;
        foreign.set(kind.name, error);
      } else if (!(error instanceof SourceError)) throw error; // An unreadable list does not refuse the pull.
    } finally {
      await responses.return(undefined);
    }
  }
  return foreign;
}
