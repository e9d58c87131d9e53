import { schedule as tickBy } from 'node-cron';
import { writeMeta } from '../store/kinds/meta.ts';
import { sweptKinds } from '../store/kinds/status-store.ts';
import {
  readAppliesSince,
  readHandledUntil,
  requestSlot,
  saveHandledUntil,
} from '../store/runs/open-runs.ts';
import { readRepeats } from '../store/runs/repeats.ts';
import { repeatTask, type MirrorContext, type ProcessContext } from '../db/mirror-context.ts';
import { dueSlot, nextSlot, type Schedule } from './schedule.ts';

const CHECK_MS = 10_000;

/** Requests runs by the clock, as several processes may do at once. Returns a function that stops it. */
export function startRunRequests(context: ProcessContext, schedules: readonly Schedule[]) {
  const scheduled = [...new Set(schedules.flatMap((schedule) => schedule.kinds))];
  const firstReads = createFirstReads(context, scheduled);
  const checks = [
    repeatTask(context, 'requesting the first pull', CHECK_MS, firstReads),
    repeatTask(context, 'repeating failed readings', CHECK_MS, createRepeats(context, scheduled)),
  ];
  const stopTicking = startTicking(context, schedules);
  return async () => {
    await Promise.all([stopTicking(), ...checks.map((check) => check.stop())]);
  };
}

/**
 * Requests the runs of schedules as they come due. Returns a function that stops it.
 *
 * node-cron ticks at the minutes and hours of each slot, whatever the day: of two fields for days it wants both, a crontab either. A
 * check every few seconds finds slots without a tick: the ones that were missed while no process ran, the database was away, or the
 * machine slept, and local times that the clocks skip.
 */
export function startTicking(context: ProcessContext, schedules: readonly Schedule[]): () => Promise<void> {
  const started = schedules.map((schedule) => {
    const task = createScheduleCheck(context, schedule);
    const name = `requesting the run of the schedule ${schedule.name}`;
    const checks = repeatTask(context, name, CHECK_MS, task);
    const everyDay = schedule.cron.trim().replace(/^(\S+\s+\S+).*/, '$1 * * *');
    const ticks = tickBy(everyDay, checks.wake, { timezone: schedule.timezone });
    return { checks, ticks };
  });
  return async () => {
    for (const { ticks } of started) await ticks.destroy();
    await Promise.all(started.map((timer) => timer.checks.stop()));
  };
}

/** The clocks of processes may differ, or go back, by this much without a slot coming due twice. */
const MAX_CLOCK_STEP_MS = 60_000;

/** Creates the check that requests a schedule's run if it has come due since the check before. */
export function createScheduleCheck(context: ProcessContext, schedule: Schedule): () => Promise<void> {
  const { session, clock, logger } = context;
  const { name, cron, timezone, kinds } = schedule;
  let handledTo: Date | null = null;
  let next: Date | null = null; // Known between two slots: a check costs nothing then.
  return async () => {
    const now = clock.now();
    if (handledTo === null || isFarBefore(now, handledTo)) {
      handledTo = await readStart(context, schedule, now);
      next = null;
    }
    if (now <= handledTo || (next !== null && now < next)) return;
    const slot = dueSlot({ cron, timezone, lastSlot: next ?? handledTo, now }) ?? next;
    if (slot !== null) {
      const due = { slot, now, schedule: name, kinds };
      const end = await session.atomically((tx) => requestSlot(tx, due));
      const message =
        end.is === 'served'
          ? `skipped a run of schedule ${name}: its kinds are already queued or being read`
          : 'a schedule is due: run requested';
      if (end.is !== 'taken') logger.debug({ ...end, schedule: name, slot: slot.toISOString() }, message);
    }
    handledTo = now;
    next = nextSlot(cron, timezone, now);
  };
}

const isFarBefore = (now: Date, handledUntil: Date): boolean =>
  now.getTime() < handledUntil.getTime() - MAX_CLOCK_STEP_MS;

/** Reads the instant up to which slots are handled: a schedule begins at its first check, and again after a wrong clock. */
async function readStart(context: MirrorContext, schedule: Schedule, now: Date): Promise<Date> {
  const { session } = context;
  const text = JSON.stringify(schedule);
  const since = (await readAppliesSince(session)).get(text);
  if (since === undefined || isFarBefore(now, new Date(since)))
    await session.atomically((tx) => writeMeta(tx, `applies.${schedule.name}`, JSON.stringify([text, now])));
  const handledUntil = await readHandledUntil(session, schedule.name);
  if (handledUntil !== null && !isFarBefore(now, handledUntil)) return handledUntil;
  await session.atomically((tx) => saveHandledUntil(tx, schedule.name, now));
  return now;
}

/** Creates the check that requests a first pull, once, of the scheduled kinds that were never read: they do not wait for slots. */
export function createFirstReads(context: ProcessContext, scheduled: readonly string[]): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    const now = context.clock.now();
    const swept = await sweptKinds(context.session);
    const kinds = scheduled.filter((kind) => !swept.has(kind));
    const due = { schedule: 'first_read', slot: now, kinds, now }; // Processes that start together request one run.
    const end = kinds.length === 0 ? null : await context.session.atomically((tx) => requestSlot(tx, due));
    const message = 'reading scheduled kinds that were never read';
    if (end?.is === 'requested') context.logger.info({ runId: end.runId, kinds }, message);
    isDone = true;
  };
}

/** Creates the check that requests another run of the scheduled kinds that a slot could not read for a reason that passes. */
export function createRepeats(context: ProcessContext, scheduled: readonly string[]): () => Promise<void> {
  const { session, clock } = context;
  return async () => {
    const now = clock.now();
    const due = (await readRepeats(session)).filter(
      (repeat) => repeat.dueAt <= now && scheduled.includes(repeat.kind),
    );
    const bySlot = Map.groupBy(due, ({ schedule, slot }) => `${schedule} ${slot.getTime()}`);
    for (const alike of bySlot.values()) {
      const kinds = alike.map((repeat) => repeat.kind);
      for (const repeat of alike.slice(0, 1))
        await session.atomically((tx) => requestSlot(tx, { ...repeat, kinds, now }));
    }
  };
}
