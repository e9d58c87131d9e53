import { schedule as tickBy } from 'node-cron';
import { createFaultLog } from '../lib/log/fault-log.ts';
import type { Logger } from '../lib/log/logger.ts';
import { repeat } from '../lib/log/repeat.ts';
import type { Repeating } from '../lib/log/repeat.ts';
import type { Clock } from '../lib/time/clock.ts';
import { countChangesByHour, readMovingKinds, sweptKinds } from '../mirror/kinds/status-store.ts';
import { readMark, requestSlot, writeMark } from '../mirror/runs/slot-requests.ts';
import type { SlotEnd, SlotRequest } from '../mirror/runs/slot-requests.ts';
import { isAway } from '../mirror/session/errors.ts';
import type { Session } from '../mirror/session/session.ts';
import { dueSlot, nextSlot } from './schedule.ts';
import type { Schedule } from './schedule.ts';

interface ScheduleParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

const CHECK_MS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Requests runs by the clock, as several processes may do at once. Returns a function that stops it. */
export function startSchedules(
  parts: ScheduleParts,
  schedules: readonly Schedule[],
  listed: readonly string[],
): () => Promise<void> {
  const pulls = schedules.filter(({ verifies }) => verifies === undefined);
  const firstReads = createFirstReads(parts, [...new Set(pulls.flatMap(({ kinds }) => kinds))]);
  const checks = [
    startCheck(parts, 'requesting the first pull', firstReads),
    startCheck(parts, 'asking for sweeps at quiet hours', createQuietCheck(parts, listed)),
  ];
  const stopTicking = startTicking(parts, schedules);
  return async () => {
    await Promise.all([stopTicking(), ...checks.map((check) => check.stop())]);
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
  const { cron, timezone } = schedule;
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
    if (slot !== null) await requestDue(parts, schedule, { slot, now });
    dealtWith = now;
    next = nextSlot(cron, timezone, now);
  };
}

const isFarBefore = (now: Date, mark: Date): boolean => now.getTime() < mark.getTime() - BACK_MS;

/**
 * Reads the instant up to which slots are handled: a schedule begins at its first check, and again where a wrong clock was
 * corrected.
 */
async function readStart({ session }: ScheduleParts, { name }: Schedule, now: Date): Promise<Date> {
  const mark = await readMark(session, name);
  if (mark !== null && !isFarBefore(now, mark)) return mark;
  await session.atomically((tx) => writeMark(tx, name, now));
  return now;
}

async function requestDue(
  parts: ScheduleParts,
  { name: schedule, kinds, pages, verifies }: Schedule,
  due: Pick<SlotRequest, 'slot' | 'now'>,
): Promise<void> {
  const end = await request(parts, { ...due, schedule, kinds, pages, ...(verifies && { verifies }) });
  if (end.is === 'taken') return;
  const isOpen = `the schedule ${schedule} gets no run: its kinds are asked for or being read already`;
  const message = end.is === 'served' ? isOpen : 'a schedule has come due: its run is asked for';
  parts.logger.debug({ ...end, schedule, slot: due.slot.toISOString() }, message);
}

const request = ({ session, isDead }: ScheduleParts, due: Omit<SlotRequest, 'isDead'>): Promise<SlotEnd> =>
  session.atomically((tx) => requestSlot(tx, { ...due, isDead }));

/** Requests a pull of whole lists, and tells of it. */
async function requestPull(
  parts: ScheduleParts,
  due: Pick<SlotRequest, 'schedule' | 'slot' | 'kinds' | 'now'>,
  [facts, message]: readonly [facts: object, message: string],
): Promise<void> {
  const end = await request(parts, { ...due, pages: null });
  if (end.is === 'requested') parts.logger.info({ runId: end.runId, ...facts }, message);
}

/**
 * Creates the check that requests a first pull, once, of the scheduled kinds that were never read to the end: they do not wait
 * for their slots.
 */
export function createFirstReads(parts: ScheduleParts, scheduled: readonly string[]): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    const now = parts.clock.now();
    const swept = await sweptKinds(parts.session);
    const kinds = scheduled.filter((kind) => !swept.has(kind));
    const due = { schedule: 'first_read', slot: now, kinds, now }; // Processes that start together request one run.
    const told = [{ kinds }, 'kinds that are scheduled and were never read are read now'] as const;
    if (kinds.length > 0) await requestPull(parts, due, told);
    isDone = true;
  };
}

/** Creates the check that requests one more sweep a day of each list that moves, at its quietest hour. */
export function createQuietCheck(parts: ScheduleParts, kinds: readonly string[]): () => Promise<void> {
  let checked: number | null = null;
  return async () => {
    const now = parts.clock.now();
    const hour = Math.floor(now.getTime() / HOUR_MS);
    if (hour === checked) return;
    for (const kind of await readMovingKinds(parts.session))
      if (kinds.includes(kind)) await requestIfQuiet(parts, kind, now);
    checked = hour;
  };
}

const HISTORY_DAYS = 7;

async function requestIfQuiet(parts: ScheduleParts, kind: string, now: Date): Promise<void> {
  const since = new Date(now.getTime() - HISTORY_DAYS * DAY_MS);
  const hour = quietestHour(await countChangesByHour(parts.session, kind, since));
  if (hour === null || hour !== now.getUTCHours()) return;
  const slot = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS); // One a day, however the quietest hour shifts.
  const due = { schedule: `quiet_${kind}`, slot, kinds: [kind], now };
  await requestPull(parts, due, [{ kind, hour }, 'a list that moves is read once more at its quietest hour']);
}

const FEWEST_DAYS = 2;
const HOURS = 24;

/** Changes of a kind in each hour of the day (UTC), and the number of days on which there were any. */
type HourlyChanges = Awaited<ReturnType<typeof countChangesByHour>>;

/**
 * The hour of the day (UTC, 0 to 23) in which a kind changes least; null if its history does not show one.
 *
 * It shows one if changes were seen on at least two days, and that hour has less than half of the mean number of changes.
 * Of equal hours the one with quieter neighbours counts: it is further from the busy ones.
 */
export function quietestHour({ counts, days }: HourlyChanges): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (days < FEWEST_DAYS || total === 0 || counts.length !== HOURS) return null;
  const at = (hour: number): number => counts[(hour + HOURS) % HOURS] ?? 0;
  const around = (hour: number): number => at(hour - 2) + 2 * at(hour - 1) + 2 * at(hour + 1) + at(hour + 2);
  const hours = counts.map((_count, hour) => hour);
  const [quietest = 0] = hours.sort((a, b) => at(a) - at(b) || around(a) - around(b) || a - b);
  return 2 * at(quietest) < total / HOURS ? quietest : null;
}
