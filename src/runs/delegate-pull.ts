import { openSourceBinding } from '../pull/source-binding.ts';
import { readOffKinds } from '../store/kinds/status-store.ts';
import { requestPull } from '../store/runs/run-requests.ts';
import { findRun } from '../store/runs/run-store.ts';
import { hasLiveRole } from '../store/runs/worker-store.ts';
import { SyncError } from '../lib/sync-error.ts';
import { parseInstant, sleepUnlessStopped } from '../lib/time/clock.ts';
import {
  unsweptReport,
  withUtcInstants,
  type PullReport,
  type PullRequest,
} from '../pull/sweep/pull-kinds.ts';
import type { PullParts } from '../pull/parts.ts';

const POLL_MS = 500;

/**
 * Requests a pull from the background service and follows it until it ends, this command is stopped, or no service is left.
 * @returns Null if no service is running: the caller does the work. A pull that accepts another source is the caller's too.
 * @throws {OtherSourceError} If the mirror holds another source's data. @throws {SyncError} `run.failed`
 */
export async function delegatePull(parts: PullParts, request: PullRequest): Promise<PullReport | null> {
  const { session, clock, logger } = parts;
  if (request.acceptNewSource || !(await isServedNow(parts))) return null;
  await openSourceBinding(session, request.baseUrl, false);
  const kinds = request.kinds.map((kind) => kind.name);
  const requested = { kinds, request: 'pull', now: clock.now() };
  const runId = await session.atomically((tx) => requestPull(tx, requested));
  logger.info({ runId }, 'requested it from the background service');
  const { run, detail } = await followRun(parts, runId);
  const off = new Set((await readOffKinds(session, kinds)).map((freshness) => freshness.kind));
  const reports = request.kinds.flatMap((kind) => {
    const report = run.reports.find((each) => each.kind === kind.name);
    if (report !== undefined) return [report];
    return off.has(kind.name) ? [] : [unsweptReport(kind, { reason: 'interrupted', detail })];
  });
  const startedAt = run.startedAt === null ? clock.now() : parseInstant(run.startedAt);
  const finishedAt = run.finishedAt === null ? clock.now() : parseInstant(run.finishedAt);
  const durationMs = finishedAt.getTime() - startedAt.getTime(); // As `runs` has it: waiting for a free service is not the run.
  return { runId, startedAt: startedAt.toISOString(), durationMs, kinds: reports.map(withUtcInstants) };
}

/** Follows a run for as long as it can be waited for. `detail` explains why some kinds have no report. */
async function followRun(parts: PullParts, runId: number) {
  const { session, clock, signal, onProgress } = parts;
  const reportedKinds = new Set<string>();
  for (;;) {
    const run = await findRun(session, runId);
    if (run === null) throw runFailed(runId, 'its row is gone');
    if (run.state === 'failed') throw runFailed(runId, run.reason ?? 'its row is gone');
    for (const { kind, pages, rows } of run.reports) {
      if (!reportedKinds.has(kind)) onProgress?.({ kind, pages, lastPage: pages, rows });
      reportedKinds.add(kind);
    }
    if (!['requested', 'running'].includes(run.state))
      return { run, detail: `The background service was stopped during run ${runId}.` };
    if (signal?.aborted === true) {
      const detail = `This command no longer waits; run ${runId} continues in the background service.`;
      return { run, detail };
    }
    if (!(await isServedNow(parts)))
      return { run, detail: `The background service has ended; the next one continues run ${runId}.` };
    await sleepUnlessStopped(POLL_MS, { clock, signal });
  }
}

const runFailed = (runId: number, reason: string): SyncError =>
  new SyncError(`Run ${runId} of the background service failed: ${reason}`, {
    code: 'run.failed',
    hint: `See its log, and bms-sync runs show ${runId}.`,
  });

const isServedNow = (parts: PullParts): Promise<boolean> => hasLiveRole(parts.session, 'pulls');
