import type { Logger } from '../lib/log/logger.ts';
import { lengthOf, sleepUnlessStopped } from '../lib/time/clock.ts';
import type { Clock } from '../lib/time/clock.ts';
import { isRead } from '../mirror/runs/run-store.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import { AWAY_REASONS } from '../source/http/errors.ts';

/** A run that has ended, or several that are told together. */
export interface EndedRun {
  readonly ids: readonly number[];
  /** Null: unknown, or not the same for all. */
  readonly command: string | null;
  readonly reports: readonly KindReport[];
  /** Why the whole run failed; null if it did not. */
  readonly reason: string | null;
  readonly durationMs: number;
}

interface RunOutcome {
  readonly event: 'run.finished' | 'run.failed';
  /** `warn` where a person may have to act. */
  readonly level: 'info' | 'warn';
  readonly message: string;
}

/** Another process reads a busy kind, so nothing is wrong with it. */
const isBusy = ({ reason }: KindReport): boolean => reason === 'busy';

const changesOf = ({ created, updated, deleted, restored }: KindReport): number =>
  created + updated + deleted + restored;

const sumOf = <T>(parts: readonly T[], part: (one: T) => number): number =>
  parts.reduce((sum, one) => sum + part(one), 0);

/** A run without kinds had nothing to do, which is no failure. */
const isFailed = ({ reports, reason }: EndedRun): boolean =>
  reason !== null || (reports.length > 0 && !reports.some(isRead));

/** Runs as one, for one line of the log; their durations are summed up. */
export function joinRuns(runs: readonly EndedRun[]): EndedRun {
  const [command = null, ...others] = new Set(runs.map((run) => run.command));
  const reasons = new Set(runs.flatMap(({ reason }) => (reason === null ? [] : [reason])));
  return {
    ids: runs.flatMap(({ ids }) => ids),
    command: others.length === 0 ? command : null,
    reports: runs.flatMap(({ reports }) => reports),
    reason: reasons.size === 0 ? null : [...reasons].join('; '),
    durationMs: sumOf(runs, ({ durationMs }) => durationMs),
  };
}

/** Judges a run that has ended, and words it for a person. */
export function outcomeOf(run: EndedRun): RunOutcome {
  const { reports, reason } = run;
  const faulty = reports.filter((report) => !isRead(report) && !isBusy(report));
  return {
    event: isFailed(run) ? 'run.failed' : 'run.finished',
    level: reason !== null || faulty.length > 0 ? 'warn' : 'info',
    message: wordsOf(run, faulty),
  };
}

const MOST_NAMES = 3;

function wordsOf(run: EndedRun, faulty: readonly KindReport[]): string {
  const { reports, reason, durationMs } = run;
  const begin = `${subjectOf(run)} ${isFailed(run) ? 'failed' : 'finished'} after ${lengthOf(durationMs)}`;
  if (reason !== null) return `${begin}: ${reason}`;
  const read = reports.filter(isRead);
  const kinds =
    read.length === reports.length
      ? kindCount(read.length)
      : `${read.length} of ${kindCount(reports.length)}`;
  const figures = `${kinds} read, ${sumOf(read, ({ rows }) => rows)} rows, ${sumOf(reports, changesOf)} changes`;
  const busy = reports.filter(isBusy).length;
  const told = [...(busy > 0 ? [`${kindCount(busy)} read by another process`] : []), ...faultsTold(faulty)];
  return [`${begin}: ${figures}`, ...told].join('; ');
}

function subjectOf({ ids, command }: EndedRun): string {
  const [first = 0] = ids;
  const name = command === null ? '' : ` (${command})`;
  if (ids.length === 1) return `run ${first}${name} has`;
  return `${ids.length} runs, ${first} to ${ids.at(-1) ?? first}${name}, have`;
}

/** Each reason once, with the kinds that it befell. */
function faultsTold(faulty: readonly KindReport[]): string[] {
  const reasons = [...new Set(faulty.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const same = faulty.filter((report) => report.reason === reason);
    const names = same.length > MOST_NAMES ? kindCount(same.length) : same.map(({ kind }) => kind).join(', ');
    return `${names}: ${same[0]?.detail ?? reason ?? 'not read'}`;
  });
}

const kindCount = (count: number): string => (count === 1 ? 'one kind' : `${count} kinds`);

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
