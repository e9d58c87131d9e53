import { isRead } from '../mirror/runs/run-store.ts';
import type { KindReport } from '../mirror/runs/run-store.ts';
import { lengthOf } from '../lib/time/clock.ts';

/** A run that has ended. */
export interface EndedRun {
  readonly id: number;
  /** Null: unknown. */
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

export const sumOf = (reports: readonly KindReport[], part: (report: KindReport) => number): number =>
  reports.reduce((sum, report) => sum + part(report), 0);

/** Judges a run that has ended, and words it for a person. A run without kinds had nothing to do, which is no failure. */
export function outcomeOf(run: EndedRun): RunOutcome {
  const { reports, reason } = run;
  const isFailed = reason !== null || (reports.length > 0 && !reports.some(isRead));
  const faulty = reports.filter((report) => !isRead(report) && !isBusy(report));
  return {
    event: isFailed ? 'run.failed' : 'run.finished',
    level: reason !== null || faulty.length > 0 ? 'warn' : 'info',
    message: wordsOf(run, faulty, isFailed),
  };
}

const MOST_NAMES = 3;

function wordsOf(
  { id, command, reports, reason, durationMs }: EndedRun,
  faulty: readonly KindReport[],
  isFailed: boolean,
): string {
  const name = command === null ? `run ${id}` : `run ${id} (${command})`;
  const begin = `${name} has ${isFailed ? 'failed' : 'finished'} after ${lengthOf(durationMs)}`;
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
