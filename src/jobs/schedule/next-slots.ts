import { instantText } from '../../lib/time/clock.ts';
import { nextSlot } from './schedule.ts';
import type { Schedule } from './schedule.ts';

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
