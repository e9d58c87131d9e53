import { Cron } from 'croner';
import { formatInstant } from '../lib/time/clock.ts';

/** When to request a run, and for which kinds. */
export interface Schedule {
  /** Letters, digits and _. */
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly kinds: readonly string[];
}

/** Finds the latest slot after `lastSlot`, up to `now`; null if there is none. Earlier missed slots are not made up for. */
export function dueSlot(
  schedule: Pick<Schedule, 'cron' | 'timezone'> & { readonly lastSlot: Date; readonly now: Date },
): Date | null {
  const { cron, timezone, lastSlot, now } = schedule;
  const [slot] = parseCron(cron, timezone).previousRuns(1, new Date(now.getTime() + 1));
  return slot !== undefined && slot > lastSlot ? slot : null;
}

/** Finds the next slot after an instant. */
export function nextSlot(cron: string, timezone: string, after: Date): Date {
  const slot = parseCron(cron, timezone).nextRun(after);
  if (slot === null) throw new RangeError(`"${cron}" never comes`); // The settings refuse it.
  return slot;
}

/**
 * A local time without * or steps that the clocks skip comes as they go on, and one that they show twice comes once; any other comes
 * whenever they show it.
 */
const parseCron = (cron: string, timezone: string): Cron =>
  new Cron(cron, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });

/** A kind is stale once this many slots of one of its schedules have passed since it applies, and since its list was read to the end. */
const STALE_SLOTS = 3;

/**
 * Finds the kinds that are stale by these schedules, and since when they are not read: null = never.
 * @param readings `sweptAt`: when the list of each kind was last read to its end, null or absent = never. `appliesSince`: by the
 * text of a schedule; earlier slots count for no kind. `longRepeated`: kinds that are stale whatever their slots.
 */
export function staleKinds(
  schedules: readonly Schedule[],
  readings: {
    readonly sweptAt: ReadonlyMap<string, Date | null>;
    readonly longRepeated: readonly string[];
    readonly appliesSince: ReadonlyMap<string, string>;
    readonly now: Date;
  },
) {
  const { sweptAt, longRepeated, appliesSince, now } = readings;
  const stale = schedules.flatMap((schedule) => {
    const begun = new Date(appliesSince.get(JSON.stringify(schedule)) ?? now);
    const oldest = parseCron(schedule.cron, schedule.timezone).previousRuns(STALE_SLOTS, now).at(-1) ?? begun;
    return schedule.kinds.flatMap((kind) => {
      const since = sweptAt.get(kind) ?? null;
      const isLate = begun < oldest && (since === null || since < oldest);
      return isLate || longRepeated.includes(kind) ? [{ kind, since }] : [];
    });
  });
  return [...new Map(stale.map((kind) => [kind.kind, kind])).values()];
}

/** A schedule of the background service, with the instant (UTC) when it comes due next. */
export type ScheduleSlot = ReturnType<typeof nextSlots>[number];

/** The kinds of these names that no schedule pulls. */
export function findUnscheduled(schedules: readonly Schedule[], kinds: readonly string[]): readonly string[] {
  const scheduled = new Set(schedules.flatMap((schedule) => schedule.kinds));
  return kinds.filter((kind) => !scheduled.has(kind));
}

/** The next slot of every schedule, the earliest first. */
export function nextSlots(schedules: readonly Schedule[], now: Date) {
  return schedules
    .map((schedule) => ({ ...schedule, at: formatInstant(nextSlot(schedule.cron, schedule.timezone, now)) }))
    .sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at));
}
