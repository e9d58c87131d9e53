import type { ScheduleSlot } from '../../checks/check.ts';
import type { Config } from '../../config/settings.ts';
import { nextSlot } from '../../jobs/schedule/schedule.ts';
import { instantText } from '../../lib/time/clock.ts';
import { schedulesOf, verifySchedule } from './schedules.ts';

/** The next slot of every schedule that `serve` goes by, the earliest first. */
export function nextSlots(config: Config, now: Date): readonly ScheduleSlot[] {
  return [...schedulesOf(config), ...verifySchedule(config)]
    .map(({ name, cron, timezone, kinds, pages, verifies = false }) => {
      const at = instantText(nextSlot(cron, timezone, now));
      return { ...{ name, cron, timezone, kinds, pages, verifies }, at };
    })
    .sort((a, b) => (a.at < b.at ? -1 : 1));
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
