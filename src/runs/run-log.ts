import type { Logger } from '../lib/log/logger.ts';
import { formatDuration } from '../lib/time/clock.ts';
import type { WorkResult } from '../lib/work-queue.ts';
import { driftSince } from '../store/kinds/drift-store.ts';
import { readHolds } from '../store/records/deletion-store.ts';
import { findRun, isReadToEnd, type KindReport } from '../store/runs/run-store.ts';
import { isPassing, isRepeat } from '../store/runs/repeats.ts';
import type { PullParts } from '../pull/parts.ts';

/**
 * Begins to watch a run. Returns a function that logs the end of the run, newly held deletions and drift, and returns what the run came
 * to. A run that continues later is not logged.
 */
export async function createRunLog(parts: PullParts, runId: number) {
  const { session, clock, logger } = parts;
  const startedAt = clock.now();
  const startMs = clock.monotonicMs();
  const holds = (await readHolds(session)).filter((hold) => hold.state === 'held');
  const heldBefore = new Map(holds.map((hold) => [hold.kind, hold.records]));
  /** @param fault The code of what ended the run before its end. */
  return async (fault: string | null): Promise<WorkResult> => {
    const run = await findRun(session, runId);
    if (run === null || !['done', 'incomplete', 'failed'].includes(run.state)) return null;
    const result = logRunEnd(logger, run, Math.round(clock.monotonicMs() - startMs));
    const kinds = new Set(run.reports.map((report) => report.kind));
    for (const { kind, state, records } of await readHolds(session)) {
      const isNew = state === 'held' && records > (heldBefore.get(kind) ?? 0); // It waits for a person now, and did not before.
      if (!isNew || !kinds.has(kind)) continue;
      const hint = `bms-sync deletions, then approve ${kind} or reject ${kind}`;
      const message = `${records} records of ${kind} have left the list: they stay until a user decides`;
      logger.warn({ event: 'kind.held', kind, records, hint }, message);
    }
    for (const { kind, code, field, detail } of await driftSince(session, startedAt)) {
      if (!kinds.has(kind)) continue;
      const where = field === null ? kind : `${kind}.${field}`;
      const message = `drift: ${where}: ${detail}`;
      logger.warn({ event: 'drift.found', kind, code, field, runId }, message);
    }
    return fault === null ? result : { ...result, verdict: fault };
  };
}

type EndedRun = NonNullable<Awaited<ReturnType<typeof findRun>>>;

/** Logs and returns what a run came to. A run without kinds and a busy kind are not failures. */
function logRunEnd(logger: Logger, run: EndedRun, durationMs: number) {
  const { id: runId, command, reports, reason } = run;
  const readKinds = reports.filter(isReadToEnd).length;
  const hasFailed = reason !== null || (reports.length > 0 && readKinds === 0);
  const faulty = reports.filter((report) => !isReadToEnd(report) && report.reason !== 'busy');
  const rows = reports.reduce((sum, report) => sum + report.rows, 0);
  const changes = reports.reduce((sum, report) => sum + changesOf(report), 0);
  const causes = [...Map.groupBy(faulty, (report) => report.reason).values()].map((alike) => {
    const more = alike.length > 1 ? ` and ${alike.length - 1} more` : '';
    return `${alike[0]?.kind ?? ''}${more}: ${alike[0]?.detail ?? 'not read'}`;
  });
  const why = reason ?? causes.join('; ');
  const message =
    `run ${runId} (${command}) ${hasFailed ? 'failed' : 'finished'} after ${formatDuration(durationMs)}: ` +
    `${readKinds} of ${reports.length} kinds read, ${rows} rows, ${changes} changes${why === '' ? '' : `; ${why}`}`;
  const event = hasFailed ? 'run.failed' : 'run.finished';
  const kinds = reports.map((report) => {
    const { kind, state, rows } = report;
    const fault = report.reason === null ? {} : { reason: report.reason };
    return { kind, state, ...fault, rows, changes: changesOf(report) };
  });
  const facts = { runId, command, durationMs, ...(reason !== null && { reason }) };
  const level = reason !== null || faulty.length > 0 ? 'warn' : 'info';
  logger[levelOf(run, level)]({ event, ...facts, kinds, rows, changes }, message);
  return { state: run.state, verdict: faulty[0]?.reason ?? null, hasFailed: level === 'warn' };
}

/** Lowers the level of a repeat that was as vain as the tries before it: the first one was logged. */
function levelOf({ slot, reason, reports }: EndedRun, level: 'info' | 'warn') {
  const isVain = reports.every((report) => !isReadToEnd(report) && isPassing(report.reason));
  return isRepeat(slot) && reason === null && isVain ? 'debug' : level;
}

const changesOf = (report: KindReport): number =>
  report.created + report.updated + report.deleted + report.restored;
