import type { Logger } from '../lib/log/logger.ts';
import { driftSince } from '../mirror/kinds/drift-store.ts';
import { readHolds } from '../mirror/records/deletion-store.ts';
import type { Hold } from '../mirror/records/deletion-store.ts';
import { findRun } from '../mirror/runs/run-store.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import type { PullParts } from '../pull/run/parts.ts';
import type { TellEnd } from './run-outcome.ts';

interface Parts extends Pick<PullParts, 'session' | 'clock' | 'logger'> {
  readonly tellEnd: TellEnd;
}

/** The facts from before a run; the rest of the story is in the rows. */
interface RunBeginning {
  readonly runId: number;
  readonly startedAt: Date;
  readonly startMs: number;
  readonly holds: readonly Hold[];
}

/** Notes what a run will be compared with once it has ended. */
export async function beginTelling(
  { session, clock }: Pick<Parts, 'session' | 'clock'>,
  runId: number,
): Promise<RunBeginning> {
  return { runId, startedAt: clock.now(), startMs: clock.monotonicMs(), holds: await readHolds(session) };
}

const ENDED: readonly string[] = ['done', 'incomplete', 'failed'];

/**
 * Tells in the log how a run has ended and what it found: held deletions, drift. A run that goes on later is not told.
 *
 * @param pageReports Reports that have no rows: those of a run that read some pages only.
 */
export async function tellRun(
  parts: Parts,
  beginning: RunBeginning,
  pageReports: readonly KindReport[],
): Promise<void> {
  const { session, clock, logger, tellEnd } = parts;
  const run = await findRun(session, beginning.runId, clock.now());
  if (run === null || !ENDED.includes(run.state)) return;
  const durationMs = Math.round(clock.monotonicMs() - beginning.startMs);
  const reports = [...run.reports, ...pageReports];
  tellEnd({ ...run, ids: [run.id], reports, durationMs });
  const kinds = new Set(reports.map(({ kind }) => kind));
  for (const hold of newHolds(beginning.holds, await readHolds(session)))
    if (kinds.has(hold.kind)) tellHold(logger, hold);
  for (const drift of await driftSince(session, beginning.startedAt))
    if (kinds.has(drift.kind)) tellDrift(logger, { ...drift, runId: run.id });
}

/** Tells of a run whose end cannot be read, because the database is away. */
export function tellUnreadRun({ clock, tellEnd }: Parts, beginning: RunBeginning, reason: string): void {
  const durationMs = Math.round(clock.monotonicMs() - beginning.startMs);
  tellEnd({ ids: [beginning.runId], command: null, reports: [], reason, durationMs });
}

/** Disappearances that wait for a person now, and did not, or were fewer, before. */
export function newHolds(before: readonly Hold[], after: readonly Hold[]): readonly Hold[] {
  const heldBefore = new Map(
    before.filter(({ state }) => state === 'held').map(({ kind, records }) => [kind, records]),
  );
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
