import { schedule as tickBy } from 'node-cron';
import { createFaultLog } from '../lib/log/fault-log.ts';
import type { Logger } from '../lib/log/logger.ts';
import { repeat, type Repeating } from '../lib/log/repeat.ts';
import type { Clock } from '../lib/time/clock.ts';
import { sweptKinds } from '../store/kinds/status-store.ts';
import { readMark, requestSlot, writeMark, type SlotEnd, type SlotRequest } from '../store/runs/open-runs.ts';
import { isAway } from '../db/session/errors.ts';
import type { Session } from '../db/session/session.ts';
import { dueSlot, nextSlot, type Schedule } from './schedule.ts';

interface ScheduleParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

const CHECK_MS = 10_000;

/** Requests runs by the clock, as several processes may do at once. Returns a function that stops it. */
export function startSchedules(parts: ScheduleParts, schedules: readonly Schedule[]): () => Promise<void> {
  const firstReads = createFirstReads(parts, [...new Set(schedules.flatMap(({ kinds }) => kinds))]);
  const check = startCheck(parts, 'requesting the first pull', firstReads);
  const stopTicking = startTicking(parts, schedules);
  return async () => {
    await Promise.all([stopTicking(), check.stop()]);
  };
}

/**
 * Requests the runs of schedules as they come due. Returns a function that stops it.
 *
 * node-cron ticks at each slot. A check every few seconds finds slots without a tick: those that were missed while no
 * process ran, the database was away, or the machine slept.
 */
export function startTicking(parts: ScheduleParts, schedules: readonly Schedule[]): () => Promise<void> {
  const started = schedules.map((schedule) => {
    const task = createScheduleCheck(parts, schedule);
    const checks = startCheck(parts, `requesting the run of the schedule ${schedule.name}`, task);
    const ticks = tickBy(schedule.cron, checks.wake, { timezone: schedule.timezone });
    return { checks, ticks };
  });
  return async () => {
    for (const { ticks } of started) await ticks.destroy();
    await Promise.all(started.map(({ checks }) => checks.stop()));
  };
}

/** Runs a check at once and then every few seconds; the log of faults shows its name. */
function startCheck({ clock, logger }: ScheduleParts, name: string, task: () => Promise<void>): Repeating {
  const faults = createFaultLog({ clock, logger, isTold: isAway });
  return repeat({ clock, faults, everyMs: CHECK_MS, name, task });
}

/** The clocks of processes may differ, or go back, by this much without a slot coming due twice. */
const BACK_MS = 60_000;

/** Creates the check that requests a schedule's run if it has come due since the check before. */
export function createScheduleCheck(parts: ScheduleParts, schedule: Schedule): () => Promise<void> {
  const { name, cron, timezone, kinds } = schedule;
  let dealtWith: Date | null = null;
  let next: Date | null = null; // Known between two slots: a check costs nothing then.
  return async () => {
    const now = parts.clock.now();
    if (dealtWith === null || isFarBefore(now, dealtWith)) {
      dealtWith = await readStart(parts, schedule, now);
      next = null;
    }
    if (now <= dealtWith || (next !== null && now < next)) return;
    const slot = dueSlot({ cron, timezone, lastSlot: next ?? dealtWith, now }) ?? next;
    if (slot !== null) {
      const end = await request(parts, { slot, now, schedule: name, kinds });
      const message =
        end.is === 'served'
          ? `the schedule ${name} gets no run: its kinds are asked for or being read already`
          : 'a schedule has come due: its run is asked for';
      if (end.is !== 'taken')
        parts.logger.debug({ ...end, schedule: name, slot: slot.toISOString() }, message);
    }
    dealtWith = now;
    next = nextSlot(cron, timezone, now);
  };
}

const isFarBefore = (now: Date, mark: Date): boolean => now.getTime() < mark.getTime() - BACK_MS;

/** Reads the instant up to which slots are handled: a schedule begins at its first check, and again after a wrong clock. */
async function readStart({ session }: ScheduleParts, { name }: Schedule, now: Date): Promise<Date> {
  const mark = await readMark(session, name);
  if (mark !== null && !isFarBefore(now, mark)) return mark;
  await session.atomically((tx) => writeMark(tx, name, now));
  return now;
}

const request = ({ session, isDead }: ScheduleParts, due: Omit<SlotRequest, 'isDead'>): Promise<SlotEnd> =>
  session.atomically((tx) => requestSlot(tx, { ...due, isDead }));

/** Creates the check that requests a first pull, once, of the scheduled kinds that were never read: they do not wait for slots. */
export function createFirstReads(parts: ScheduleParts, scheduled: readonly string[]): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    const now = parts.clock.now();
    const swept = await sweptKinds(parts.session);
    const kinds = scheduled.filter((kind) => !swept.has(kind));
    const due = { schedule: 'first_read', slot: now, kinds, now }; // Processes that start together request one run.
    const end = kinds.length === 0 ? null : await request(parts, due);
    const message = 'kinds that are scheduled and were never read are read now';
    if (end?.is === 'requested') parts.logger.info({ runId: end.runId, kinds }, message);
    isDone = true;
  };
}
