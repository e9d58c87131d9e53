import { CronExpressionParser, type CronExpression } from 'cron-parser';
import { formatInstant } from '../lib/time/clock.ts';

/** When to request a run, and for which kinds. */
export interface Schedule {
  /** Letters, digits and _. */
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly kinds: readonly string[];
}

interface SlotSearch {
  readonly cron: string;
  readonly timezone: string;
  readonly lastSlot: Date;
  readonly now: Date;
}

const HOUR_MS = 3_600_000;

/**
 * Finds the latest slot after `lastSlot`, up to `now`; null if there is none. Earlier missed slots are not made up for.
 *
 * cron-parser moves a local time that the clocks skip to an hour later, and counts one that they show twice once, but only walking
 * forward. This is why the function makes longer and longer walks up to now instead of one step back.
 */
export function dueSlot(search: SlotSearch): Date | null {
  const last = search.lastSlot.getTime();
  for (let hours = 1; ; hours *= 8) {
    const from = Math.max(last, search.now.getTime() - hours * HOUR_MS);
    const walk = parseCron(search.cron, search.timezone, from);
    let slot: Date | null = null;
    for (let next = walk.next().toDate(); next <= search.now; next = walk.next().toDate()) slot = next;
    if (slot !== null || from <= last) return slot;
  }
}

/** Finds the next slot after an instant. */
export function nextSlot(cron: string, timezone: string, after: Date): Date {
  return parseCron(cron, timezone, after.getTime()).next().toDate();
}

const parseCron = (cron: string, timezone: string, from: number): CronExpression =>
  CronExpressionParser.parse(cron, { currentDate: new Date(from), tz: timezone });

/** A kind is stale once this many slots of one of its schedules have passed since its list was read to the end. */
const STALE_SLOTS = 3;

interface StaleKind {
  readonly kind: string;
  /** When its list was last read to the end; null = never. */
  readonly since: Date | null;
}

/**
 * Finds the kinds that are stale by these schedules.
 *
 * @param readings `sweptAt`: when the list of each kind was last read to its end, null or absent = never; such a kind is judged
 * from `startedAt`, the start of this process, on. `longRepeated`: kinds that are stale whatever their slots.
 */
export function staleKinds(
  schedules: readonly Schedule[],
  readings: {
    readonly sweptAt: ReadonlyMap<string, Date | null>;
    readonly longRepeated: readonly string[];
    readonly startedAt: Date;
    readonly now: Date;
  },
): readonly StaleKind[] {
  const { sweptAt, longRepeated, startedAt, now } = readings;
  const stale = new Map<string, StaleKind>();
  for (const { cron, timezone, kinds } of schedules) {
    const walk = parseCron(cron, timezone, now.getTime()); // On its way back it may be an hour off where clocks change.
    for (let slot = 1; slot < STALE_SLOTS; slot += 1) walk.prev();
    const oldest = walk.prev().toDate();
    for (const kind of kinds) {
      const since = sweptAt.get(kind) ?? null;
      if ((since ?? startedAt) < oldest || longRepeated.includes(kind)) stale.set(kind, { kind, since });
    }
  }
  return [...stale.values()];
}

/** A schedule of the background service, with the instant (UTC) when it comes due next. */
export interface ScheduleSlot extends Schedule {
  readonly at: string;
}

/** The kinds of these names that no schedule pulls. */
export function findUnscheduled(schedules: readonly Schedule[], kinds: readonly string[]): readonly string[] {
  const scheduled = new Set(schedules.flatMap((schedule) => schedule.kinds));
  return kinds.filter((kind) => !scheduled.has(kind));
}

/** The next slot of every schedule, the earliest first. */
export function nextSlots(schedules: readonly Schedule[], now: Date): readonly ScheduleSlot[] {
  return schedules
    .map((schedule) => ({ ...schedule, at: formatInstant(nextSlot(schedule.cron, schedule.timezone, now)) }))
    .sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at));
}
