import { createScheduleCheck } from '../../src/jobs/request-runs.ts';
import { closeDeadRuns, requestedRuns } from '../../src/mirror/runs/run-requests.ts';
import type { WakeUp } from '../outbound-simulation/wake-up.ts';
import { employ } from '../outbound-simulation/run-schedule.ts';
import { logger } from '../outbound-simulation/settings.ts';
import type { Stage } from '../outbound-simulation/stage.ts';
import { TIMEZONE } from './plan.ts';
import type { Soak } from './stage.ts';

const TICK_MS = 4 * 60_000; // The service looks every second; slots come due at whole multiples of this.

/** All that runs in the background for as long as the soak lasts. */
export function startProcesses(soak: Soak): Promise<void>[] {
  const { stage } = soak;
  const wakeUp = hesitant(stage);
  return [employ(viewOf(stage, { wakeUp }), 1), employ(mortalView(soak, wakeUp), 2), keepSchedule(soak)];
}

/** Whoever is woken takes a moment, now and then: of two processes neither always comes first. */
function hesitant({ wakeUp, random, timeline: { clock } }: Stage): WakeUp {
  return {
    wake: () => {
      wakeUp.wake();
    },
    rest: async (ms) => {
      await wakeUp.rest(ms);
      if (random.chance(0.5)) await clock.sleep(random.integer(1, LONGEST_MOMENT_MS));
    },
  };
}

const LONGEST_MOMENT_MS = 50;

/** The same stage, with some parts of its own for a process. */
function viewOf(stage: Stage, own: Partial<Stage>): Stage {
  const properties = Object.entries(own).map(([name, value]) => [name, { value, enumerable: true }]);
  return Object.create(stage, Object.fromEntries(properties) as PropertyDescriptorMap) as Stage;
}

const CRASHES = 1 / 120;
const CRASHES_TAKING_OVER = 1 / 2_000; // It looks for the work of the dead every quarter of a minute.
const PAUSES = 1 / 60;
const DEAD_SWEEPS = 1 / 12;

/**
 * The stage as the second worker sees it: it dies now and then, wherever it is, and is started again. The first one lives
 * all the time: what one process gathers in its memory can be seen.
 */
function mortalView({ stage, tally }: Soak, wakeUp: WakeUp): Stage {
  const { random } = stage;
  const strikes = (chance: number): boolean => !stage.isCalm && random.chance(chance);
  return viewOf(stage, {
    wakeUp,
    crashes: {
      reached: tally.reached,
      isLast: (point) => {
        const isLast = strikes(point.startsWith('take over') ? CRASHES_TAKING_OVER : CRASHES);
        if (isLast) tally.reached.add(point);
        return isLast;
      },
    },
    pauses: { takes: () => strikes(PAUSES) },
    dying: {
      take: (life) => {
        if (strikes(DEAD_SWEEPS)) life.left = random.integer(1, 120);
      },
    },
  });
}

/** Asks for the scheduled sweeps as they come due, and frees the runs of dead processes, as the background service does. */
async function keepSchedule({ stage, plan }: Soak): Promise<void> {
  const { session, timeline, dead, wakeUp, kinds } = stage;
  const isDead = (owner: string): boolean => dead.has(owner);
  const { clock } = timeline;
  const schedule = { name: 'soak', cron: plan.cron, timezone: TIMEZONE, pages: null };
  const look = createScheduleCheck(
    { session, clock, logger, isDead },
    { ...schedule, kinds: kinds.map(({ name }) => name) },
  );
  while (!stage.isOver) {
    await look();
    await session.atomically((tx) => closeDeadRuns(tx, { isDead, now: clock.now() }));
    if ((await requestedRuns(session, clock.now(), 1)).length > 0) wakeUp.wake();
    await clock.sleep(TICK_MS);
  }
}
