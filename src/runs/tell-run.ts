import type { Logger } from '../lib/log/logger.ts';
import { lengthOf } from '../lib/time/clock.ts';
import { driftSince } from '../mirror/kinds/drift-store.ts';
import { readHolds } from '../mirror/records/deletion-store.ts';
import type { Hold } from '../mirror/records/deletion-store.ts';
import { findRun, isRead } from '../mirror/runs/run-store.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import type { PullParts } from '../pull/run/parts.ts';

type Parts = Pick<PullParts, 'session' | 'clock' | 'logger'>;

/** When a run began, and what it will be compared with once it has ended. */
interface RunBeginning {
  readonly runId: number;
  readonly startedAt: Date;
  readonly startMs: number;
  readonly holds: readonly Hold[];
}

export async function beginTelling({ session, clock }: Parts, runId: number): Promise<RunBeginning> {
  return { runId, startedAt: clock.now(), startMs: clock.monotonicMs(), holds: await readHolds(session) };
}

const ENDED: readonly string[] = ['done', 'incomplete', 'failed'];

/** Tells in the log how a run has ended and what it found: held deletions, drift. A run that goes on later is not told. */
export async function tellRun({ session, clock, logger }: Parts, beginning: RunBeginning): Promise<void> {
  const run = await findRun(session, beginning.runId, clock.now());
  if (run === null || !ENDED.includes(run.state)) return;
  const durationMs = Math.round(clock.monotonicMs() - beginning.startMs);
  const { command, reason, reports } = run;
  tellEnd(logger, { runId: run.id, command, reason, reports, durationMs });
  const kinds = new Set(reports.map(({ kind }) => kind));
  for (const hold of newHolds(beginning.holds, await readHolds(session)))
    if (kinds.has(hold.kind)) tellHold(logger, hold);
  for (const drift of await driftSince(session, beginning.startedAt))
    if (kinds.has(drift.kind)) tellDrift(logger, { ...drift, runId: run.id });
}

interface EndedRun {
  readonly runId: number;
  readonly command: string;
  /** Why the whole run failed; null if it did not. */
  readonly reason: string | null;
  readonly reports: readonly KindReport[];
  readonly durationMs: number;
}

/** A run without kinds had nothing to do, and of a busy kind another process takes care: neither is a fault. */
function tellEnd(logger: Logger, { reports, reason, ...run }: EndedRun): void {
  const read = reports.filter(isRead);
  const hasFailed = reason !== null || (reports.length > 0 && read.length === 0);
  const faulty = reports.filter((report) => !isRead(report) && report.reason !== 'busy');
  const rows = reports.reduce((sum, report) => sum + report.rows, 0);
  const changes = reports.reduce((sum, report) => sum + changesOf(report), 0);
  const why = reason ?? faulty.map(({ kind, detail }) => `${kind}: ${detail ?? 'not read'}`).join('; ');
  const message =
    `run ${run.runId} (${run.command}) has ${hasFailed ? 'failed' : 'finished'} after ${lengthOf(run.durationMs)}: ` +
    `${read.length} of ${reports.length} kinds read, ${rows} rows, ${changes} changes${why === '' ? '' : `; ${why}`}`;
  logger[reason !== null || faulty.length > 0 ? 'warn' : 'info'](
    {
      event: hasFailed ? 'run.failed' : 'run.finished',
      ...run,
      ...(reason !== null && { reason }),
      kinds: reports.map(kindTold),
      rows,
      changes,
    },
    message,
  );
}

const changesOf = ({ created, updated, deleted, restored }: KindReport): number =>
  created + updated + deleted + restored;

function kindTold(report: KindReport) {
  const { kind, state, reason, rows } = report;
  return { kind, state, ...(reason !== null && { reason }), rows, changes: changesOf(report) };
}

/** Disappearances that wait for a person now, and did not, or were fewer, before. */
function newHolds(before: readonly Hold[], after: readonly Hold[]): readonly Hold[] {
  const held = before.filter(({ state }) => state === 'held');
  const heldBefore = new Map(held.map(({ kind, records }) => [kind, records]));
  return after.filter(
    ({ kind, state, records }) => state === 'held' && records > (heldBefore.get(kind) ?? 0),
  );
}

function tellHold(logger: Logger, { kind, records }: Hold): void {
  const hint = `bms-sync deletions, then approve ${kind} or reject ${kind}`;
  const message = `${records} records of ${kind} have disappeared at once: they stay until a person decides`;
  logger.warn({ event: 'kind.held', kind, records, hint }, message);
}

interface FoundDrift {
  readonly kind: string;
  readonly code: string;
  readonly field: string | null;
  readonly detail: string | null;
  readonly runId: number;
}

function tellDrift(logger: Logger, { kind, code, field, detail, runId }: FoundDrift): void {
  const where = field === null ? kind : `${kind}.${field}`;
  const what = detail ?? code.replaceAll('_', ' ');
  logger.warn(
    { event: 'drift.found', kind, code, field, runId },
    `the service answers otherwise: ${where}: ${what}`,
  );
}
