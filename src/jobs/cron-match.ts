import type { Cron } from '../lib/cron.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The latest local time that an expression names, in `[from, to)`; local times are written as if they were UTC. */
export function latestMatch(cron: Cron, from: number, to: number): number | null {
  for (let day = Math.floor((to - 1) / DAY) * DAY; day > from - DAY; day -= DAY) {
    if (!isDay(cron, new Date(day))) continue;
    const match = latestOnDay(cron, day, to);
    if (match !== null) return match >= from ? match : null;
  }
  return null;
}

function isDay({ months, days, weekdays, isEitherDay }: Cron, day: Date): boolean {
  if (!months.has(day.getUTCMonth() + 1)) return false;
  const [isDate, isWeekday] = [days.has(day.getUTCDate()), weekdays.has(day.getUTCDay())];
  return isEitherDay ? isDate || isWeekday : isDate && isWeekday;
}

function latestOnDay({ hours, minutes }: Cron, day: number, to: number): number | null {
  const last = Math.min(24 * 60, Math.ceil((to - day) / MINUTE)) - 1;
  for (let hour = Math.floor(last / 60); hour >= 0; hour -= 1) {
    if (!hours.has(hour)) continue;
    for (let minute = Math.min(59, last - hour * 60); minute >= 0; minute -= 1)
      if (minutes.has(minute)) return day + (hour * 60 + minute) * MINUTE;
  }
  return null;
}
