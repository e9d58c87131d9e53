import { CronExpressionParser } from 'cron-parser';
import type { CronExpression } from 'cron-parser';
import { schedule as tickBy } from 'node-cron';
import { createFaultLog } from '../lib/log/fault-log.ts';
import type { Logger } from '../lib/log/logger.ts';
import { repeat } from '../lib/log/repeat.ts';
import { instantText } from '../lib/time/clock.ts';
import type { Clock } from '../lib/time/clock.ts';
import { readMark, requestSlot, writeMark } from '../mirror/runs/slot-requests.ts';
import { isAway } from '../mirror/session/errors.ts';
import type { Session } from '../mirror/session/session.ts';

/** When to request a run, and for which kinds. */
export interface Schedule {
  /** Letters, digits and _. */
  readonly name: string;
  /** A cron expression of five fields. */
  readonly cron: string;
  readonly timezone: string;
  readonly kinds: readonly string[];
  /** The number of pages from the beginning of each list; null = whole lists. */
  readonly pages: number | null;
  /** Compares the kinds with the service instead of pulling them. */
  readonly verifies?: true;
}

export interface ScheduleParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

const CHECK_MS = 10_000;

/**
 * Requests the runs of schedules as they come due; several processes may do so at once. Returns a function that stops it.
 *
 * node-cron ticks at each slot. A check every few seconds finds slots without a tick: those that were missed while no
 * process ran, the database was away, or the machine slept.
 */
export function startSchedules(parts: ScheduleParts, schedules: readonly Schedule[]): () => Promise<void> {
  const faults = createFaultLog({ ...parts, isTold: isAway });
  const started = schedules.map((schedule) => {
    const name = `requesting the run of the schedule ${schedule.name}`;
    const task = createScheduleCheck(parts, schedule);
    const checks = repeat({ clock: parts.clock, faults, everyMs: CHECK_MS, name, task });
    const ticks = tickBy(schedule.cron, checks.wake, { timezone: schedule.timezone });
    return { checks, ticks };
  });
  return async () => {
    for (const { ticks } of started) await ticks.destroy();
    await Promise.all(started.map(({ checks }) => checks.stop()));
  };
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
    if (slot !== null) await ask(parts, schedule, { slot, now });
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

async function ask(
  { session, logger, isDead }: ScheduleParts,
  { name, kinds, pages, verifies }: Schedule,
  due: { readonly slot: Date; readonly now: Date },
): Promise<void> {
  const request = { ...due, schedule: name, kinds, pages, isDead, ...(verifies && { verifies }) };
  const end = await session.atomically((tx) => requestSlot(tx, request));
  if (end.is === 'taken') return;
  const facts = { ...end, schedule: name, slot: due.slot.toISOString() };
  if (end.is === 'requested') logger.debug(facts, 'a schedule has come due: its run is asked for');
  else logger.debug(facts, `the schedule ${name} gets no run: its kinds are asked for or being read already`);
}

interface SlotQuestion {
  /** A cron expression of five fields. */
  readonly cron: string;
  readonly timezone: string;
  /** Slots up to here are handled. */
  readonly lastSlot: Date;
  readonly now: Date;
}

const HOUR_MS = 3_600_000;

/**
 * Finds the latest slot after `lastSlot`, up to `now`; null if there is none. Earlier missed slots are not made up for.
 *
 * cron-parser moves a local time that the clocks skip to an hour later, and takes one that they show twice the first time,
 * but only walking forward: hence ever longer walks up to now instead of one step back.
 */
export function dueSlot({ cron, timezone, lastSlot, now }: SlotQuestion): Date | null {
  const [last, until] = [lastSlot.getTime(), now.getTime()];
  for (let hours = 1; ; hours *= 8) {
    const from = Math.max(last, until - hours * HOUR_MS);
    const slot = latestWithin(parse(cron, timezone, from), until);
    if (slot !== null) return new Date(slot);
    if (from <= last) return null;
  }
}

function latestWithin(walk: CronExpression, until: number): number | null {
  let slot: number | null = null;
  for (let next = walk.next().getTime(); next <= until; next = walk.next().getTime()) slot = next;
  return slot;
}

/** Finds the next slot after an instant. */
export function nextSlot(cron: string, timezone: string, after: Date): Date {
  return parse(cron, timezone, after.getTime()).next().toDate();
}

/**
 * Finds the slot of a schedule that lies so many slots before an instant. Where clocks change, cron-parser may be an hour off
 * on its way back.
 */
export function slotBefore(
  { cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>,
  before: Date,
  slots: number,
): Date {
  const walk = parse(cron, timezone, before.getTime());
  let slot = before;
  for (let count = 0; count < slots; count += 1) slot = walk.prev().toDate();
  return slot;
}

const parse = (cron: string, timezone: string, from: number): CronExpression =>
  CronExpressionParser.parse(cron, { currentDate: new Date(from), tz: timezone });

interface Check {
  readonly everyMs: number;
  /** Names the check in the log of faults. */
  readonly name: string;
  readonly task: () => Promise<void>;
}

/** Runs a check at once and then with pauses. Returns a function that stops it. */
export function startCheck(
  { clock, logger }: Pick<ScheduleParts, 'clock' | 'logger'>,
  check: Check,
): () => Promise<void> {
  const checks = repeat({ clock, faults: createFaultLog({ clock, logger, isTold: isAway }), ...check });
  return () => checks.stop();
}

/** A schedule of the background service, with the instant (UTC) when it comes due next. */
export interface ScheduleSlot extends Omit<Schedule, 'verifies'> {
  readonly verifies: boolean;
  readonly at: string;
}

/** The next slot of every schedule, the earliest first. */
export function nextSlots(schedules: readonly Schedule[], now: Date): readonly ScheduleSlot[] {
  return schedules
    .map(({ name, cron, timezone, kinds, pages, verifies = false }) => {
      const at = instantText(nextSlot(cron, timezone, now));
      return { ...{ name, cron, timezone, kinds, pages, verifies }, at };
    })
    .sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at));
}

/** When `serve` pulls a kind next. */
export interface KindSlot {
  readonly kind: string;
  /** The name of the schedule. */
  readonly schedule: string;
  /** The number of pages from the beginning of the list; null = the whole list. */
  readonly pages: number | null;
  /** UTC. */
  readonly at: string;
}

/** The next pull of each kind that has a schedule, in the order of the kinds. */
export function nextPulls(slots: readonly ScheduleSlot[], kinds: readonly string[]): readonly KindSlot[] {
  const pulls = slots.filter(({ verifies }) => !verifies);
  return kinds.flatMap((kind) => {
    const slot = pulls.find(({ kinds: named }) => named.includes(kind));
    return slot === undefined ? [] : [{ kind, schedule: slot.name, pages: slot.pages, at: slot.at }];
  });
}

/** Milliseconds between the sweeps of a list, and when the next one is due. */
interface SweepTimes {
  readonly everyMs: number;
  readonly nextMs: number;
}

type Sweeps = SweepTimes | null;
type SweepSchedule = Pick<Schedule, 'cron' | 'timezone' | 'kinds' | 'pages'>;

/** When the schedules read the whole list of a kind next, and how often (null = never); computed again once that has come. */
export function wholeSweeps(schedules: readonly SweepSchedule[]): (kind: string, now: Date) => Sweeps {
  const whole = schedules.filter(({ pages }) => pages === null);
  const known = new Map<string, { readonly fromMs: number; readonly sweeps: Sweeps }>();
  return (kind, now) => {
    const before = known.get(kind);
    const nowMs = now.getTime();
    if (before !== undefined && nowMs >= before.fromMs && nowMs < (before.sweeps?.nextMs ?? Infinity))
      return before.sweeps;
    const sweeps = nextSweeps(
      whole.filter(({ kinds }) => kinds.includes(kind)),
      now,
    );
    known.set(kind, { fromMs: nowMs, sweeps });
    return sweeps;
  };
}

function nextSweeps(schedules: readonly SweepSchedule[], now: Date): Sweeps {
  let earliest: Sweeps = null;
  for (const { cron, timezone } of schedules) {
    const next = nextSlot(cron, timezone, now);
    const nextMs = next.getTime();
    if (earliest !== null && earliest.nextMs <= nextMs) continue;
    earliest = { nextMs, everyMs: nextSlot(cron, timezone, next).getTime() - nextMs };
  }
  return earliest;
}
