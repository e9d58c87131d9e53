import type { Session } from '../../src/mirror/session/session.ts';
import { check } from './checkers/check.ts';
import type { Finding } from './checkers/finding.ts';
import type { CrashPoint } from './crash-points.ts';
import type { Recording } from './recording.ts';
import { runSchedule } from './run-schedule.ts';
import { scheduleOf } from './schedule.ts';
import type { Schedule } from './schedule.ts';

/** One seed to play instead of all, with a line for everything that happens: `BMS_SIM_SEED=123 npx vitest run …`. */
export const REPLAYED = process.env['BMS_SIM_SEED'];

export interface Series {
  readonly from: number;
  readonly to: number;
  readonly fixed?: Partial<Schedule>;
  readonly blank: () => Promise<Session>;
  /** What a person types after `npx vitest run` to see these schedules alone. */
  readonly command: string;
  /** Findings that are not to be: by default all. */
  readonly isFault?: (finding: Finding) => boolean;
}

/** What a series of schedules has come to. */
export interface Totals {
  schedules: number;
  entries: number;
  sends: number;
  parked: number;
  rejected: number;
  adopted: number;
  resent: number;
  readonly findings: Map<string, number>;
  readonly reached: Map<CrashPoint, number>;
}

/**
 * Plays the schedules of a series.
 *
 * @throws {Error} At the first one whose truth contradicts the outbox, with the command that plays it again.
 */
export async function playSeries(series: Series): Promise<Totals> {
  const { from, to, fixed, blank, command, isFault = () => true } = series;
  const totals = noTotals();
  const seeds = REPLAYED === undefined ? range(from, to) : [Number(REPLAYED)];
  for (const seed of seeds) {
    const replay = `\n  replay: BMS_SIM_SEED=${seed} npx vitest run ${command}`;
    const options = { session: await blank(), ...(REPLAYED !== undefined && { trace: console.log }) };
    const recording = await runSchedule(scheduleOf(seed, fixed), options).catch((error: unknown) => {
      throw new Error(`seed ${seed} ended in an error${replay}`, { cause: error });
    });
    const findings = check(recording);
    const faults = findings.filter(isFault).map(({ checker, detail }) => `  ${checker}: ${detail}`);
    if (faults.length > 0) throw new Error(`seed ${seed}\n${faults.slice(0, 10).join('\n')}${replay}`);
    add(totals, recording, findings);
  }
  return totals;
}

export function noTotals(): Totals {
  const none = { schedules: 0, entries: 0, sends: 0, parked: 0, rejected: 0, adopted: 0, resent: 0 };
  return { ...none, findings: new Map(), reached: new Map() };
}

export function add(totals: Totals, recording: Recording, findings: readonly Finding[]): void {
  const { entries, sends, reached } = recording;
  const count = (is: (entry: (typeof entries)[number]['entry']) => boolean): number =>
    entries.filter(({ entry }) => is(entry)).length;
  totals.schedules++;
  totals.entries += entries.length;
  totals.sends += sends.length;
  totals.parked += count(({ state }) => state === 'parked');
  totals.rejected += count(({ state }) => state === 'rejected');
  totals.adopted += count(({ state, verdict }) => state === 'done' && verdict === 'adopted');
  totals.resent += count(({ state, verdict }) => state === 'done' && verdict === 'resent');
  for (const { checker } of findings) totals.findings.set(checker, (totals.findings.get(checker) ?? 0) + 1);
  for (const point of reached) totals.reached.set(point, (totals.reached.get(point) ?? 0) + 1);
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_none, index) => from + index);
}
