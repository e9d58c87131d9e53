import type { Logger } from '../lib/log/logger.ts';
import { sleepUnlessStopped } from '../lib/time/clock.ts';
import type { Clock } from '../lib/time/clock.ts';
import { AWAY_REASONS } from '../source/http/errors.ts';
import { changesOf, isFailed, joinRuns, outcomeOf, sumOf } from './run-outcome.ts';
import type { EndedRun } from './run-outcome.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import { isRead } from '../mirror/runs/run-store.ts';

/** Logs how runs have ended, each in its line; failures of an outage share one. */
export type TellEnd = (run: EndedRun) => void;

interface TellerParts {
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  /** Runs that wait for their line are told once it fires. */
  readonly signal?: AbortSignal | undefined;
}

/** While the service is away, failed runs have at most one line in this time. */
const EVERY_MS = 60_000;

/**
 * Creates the log of ended runs. The first run that fails because the service is away is told at once, and all further ones of
 * the same minute in one line: ten schedules would write ten lines a minute.
 */
export function createTellEnd({ logger, clock, signal }: TellerParts): TellEnd {
  let waiting: readonly EndedRun[] = [];
  let toldAt = -Infinity;
  const leftMs = (): number => toldAt + EVERY_MS - clock.monotonicMs();
  const tellWaiting = (): void => {
    if (waiting.length === 0) return;
    toldAt = clock.monotonicMs();
    logEnd(logger, waiting);
    waiting = [];
  };
  const tellLater = async (): Promise<void> => {
    while (waiting.length > 0 && leftMs() > 0 && signal?.aborted !== true)
      await sleepUnlessStopped(leftMs(), { clock, signal });
    tellWaiting();
  };
  return (run) => {
    if (!isOfOutage(run)) {
      tellWaiting(); // In the order of their ends.
      logEnd(logger, [run]);
      return;
    }
    waiting = [...waiting, run];
    if (waiting.length === 1) void tellLater();
  };
}

const PASSING: readonly (string | null)[] = [...AWAY_REASONS, 'rate_limited'];

/** Whether a run has failed because the service was away, or answered nothing but 429. */
function isOfOutage(run: EndedRun): boolean {
  const faulty = run.reports.filter((report) => !isRead(report) && report.reason !== 'busy');
  return isFailed(run) && faulty.length > 0 && faulty.every(({ reason }) => PASSING.includes(reason));
}

function logEnd(logger: Logger, runs: readonly EndedRun[]): void {
  const run = joinRuns(runs);
  const { event, level, message } = outcomeOf(run);
  const { ids, command, reports, reason, durationMs } = run;
  const [runId] = ids;
  const facts = {
    event,
    runId,
    ...(ids.length > 1 && { runIds: ids }),
    command,
    kinds: reports.map(kindTold),
  };
  const sums = { rows: sumOf(reports, ({ rows }) => rows), changes: sumOf(reports, changesOf) };
  logger[level]({ ...facts, ...sums, durationMs, ...(reason !== null && { reason }) }, message);
}

function kindTold(report: KindReport) {
  const { kind, state, reason, rows } = report;
  return { kind, state, ...(reason !== null && { reason }), rows, changes: changesOf(report) };
}
