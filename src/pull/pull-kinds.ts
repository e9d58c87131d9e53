import type { ListedKind } from '../catalog/kind.ts';
import { errorText } from '../lib/sync-error.ts';
import { LeaseError, OtherSourceError } from '../db/session/errors.ts';
import { isReadToEnd, saveKindReport, type KindReport } from '../store/runs/run-store.ts';
import { openSourceBinding, readCompanies, type SourceBinding } from '../store/kinds/source-binding.ts';
import { holdUntilRecognized, sortKindsByCompany } from './land/guard-source.ts';
import { withoutOffKinds } from './optional-kinds.ts';
import type { PullParts, PullSettings } from './run/parts.ts';
import { OTHER_SOURCE } from './sweep/read-list.ts';
import { prepareReports, recordRun, type RunFacts } from './run/record-run.ts';
import { sweepKind, type SweepRequest } from './sweep/sweep-kind.ts';
import { parseInstant } from '../lib/time/clock.ts';
import { SourceError } from '../source/http/errors.ts';

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
 * Sweeps kinds one after the other as one run; a kind that fails never stops the others.
 *
 * @throws {MirrorError} {LeaseError} A fault of the whole mirror ends the run and is recorded in it. An
 * {OtherSourceError} of the base URL or of every kind does, too.
 */
export async function pullKinds(parts: PullParts, request: PullRequest): Promise<PullReport> {
  const { kinds, baseUrl, acceptNewSource } = request;
  const { result, ...facts } = await recordRun(parts, { command: 'pull', ...request }, async (runId) => {
    const binding = await openSourceBinding(parts.session, baseUrl, acceptNewSource);
    const swept = new Map<ListedKind, KindReport>();
    const shown = await withoutOffKinds(parts, kinds);
    for (const kind of await sortKindsByCompany(parts.session, shown)) {
      parts.onProgress?.({ kind: kind.name, pages: 0, lastPage: null, rows: 0 });
      const report = parts.signal?.aborted
        ? unsweptReport(kind, INTERRUPTED)
        : await trySweep(parts, { kind, runId, binding, rules: request });
      swept.set(kind, report);
    }
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

/** Sweeps a kind, or reports that another process is sweeping it. */
async function trySweep(parts: PullParts, request: SweepRequest): Promise<KindReport> {
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
