import { isRead } from '../mirror/runs/run-store.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import { lengthOf } from '../lib/time/clock.ts';

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

export interface RunOutcome {
  readonly event: 'run.finished' | 'run.failed';
  /** `warn` where a person may have to act. */
  readonly level: 'info' | 'warn';
  readonly message: string;
}

/** Another process reads a busy kind, so nothing is wrong with it. */
const isBusy = ({ reason }: KindReport): boolean => reason === 'busy';

export const changesOf = ({ created, updated, deleted, restored }: KindReport): number =>
  created + updated + deleted + restored;

export const sumOf = <T>(parts: readonly T[], part: (one: T) => number): number =>
  parts.reduce((sum, one) => sum + part(one), 0);

/** A run without kinds had nothing to do, which is no failure. */
export const isFailed = ({ reports, reason }: EndedRun): boolean =>
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
