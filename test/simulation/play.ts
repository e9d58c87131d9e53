import type { Session } from '../../src/mirror/session/session.ts';
import { check } from './checkers/check.ts';
import { runSchedule } from './run-schedule.ts';
import { scheduleOf } from './schedule.ts';
import type { Fixed } from './schedule.ts';

/** One seed to play instead of all, with a line for everything that happens: `BMS_SIM_SEED=123 npx vitest run …`. */
const REPLAYED = process.env['BMS_SIM_SEED'];

export interface Series {
  readonly from: number;
  readonly to: number;
  readonly fixed?: Fixed;
  readonly blank: () => Promise<Session>;
  /** What a person types after `npx vitest run` to see these schedules alone. */
  readonly command: string;
}

/** What a series of schedules has come to: numbers that show that it was about something. */
export interface Totals {
  schedules: number;
  sweeps: number;
  certified: number;
  events: number;
  deleted: number;
  restored: number;
}

/**
 * Plays the schedules of a series.
 *
 * @throws {Error} At the first one whose truth contradicts the mirror, with the command that plays it again.
 */
export async function playSeries({ from, to, fixed, blank, command }: Series): Promise<Totals> {
  const totals: Totals = { schedules: 0, sweeps: 0, certified: 0, events: 0, deleted: 0, restored: 0 };
  const seeds = REPLAYED === undefined ? range(from, to) : [Number(REPLAYED)];
  for (const seed of seeds) {
    const replay = `\n  replay: BMS_SIM_SEED=${seed} npx vitest run ${command}`;
    const options = { session: await blank(), ...(REPLAYED !== undefined && { trace: console.log }) };
    const recording = await runSchedule(scheduleOf(seed, fixed), options).catch((error: unknown) => {
      throw new Error(`seed ${seed} ended in an error${replay}`, { cause: error });
    });
    const violations = check(recording).map(
      ({ checker, kind, detail }) => `  ${checker} (${kind}): ${detail}`,
    );
    if (violations.length > 0)
      throw new Error(`seed ${seed}\n${violations.slice(0, 10).join('\n')}${replay}`);

    const { changes, pulls } = recording;
    const states = pulls.flatMap((pull) => [...pull.states.values()]);
    totals.schedules++;
    totals.sweeps += states.length;
    totals.certified += states.filter((state) => state === 'certified').length;
    totals.events += changes.length;
    totals.deleted += changes.filter(({ change }) => change === 'deleted').length;
    totals.restored += changes.filter(({ change }) => change === 'restored').length;
  }
  return totals;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_none, index) => from + index);
}
