/**
 * Makes a function that returns how far a zone's clocks are ahead of UTC, in milliseconds, when they show a local time (given as if
 * it were UTC). Of a time that they show twice, it is the first one.
 *
 * @param skipped Whether a time that they skip is taken for as much earlier or later. A day whose midnight they skip begins later.
 */
export function createZoneOffset(timezone: string, skipped: 'earlier' | 'later'): (local: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  const offsetOf = (instant: number): number => {
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
      /GMT([+-])(\d+):(\d+)(?::(\d+))?/.exec(format.format(instant)) ?? [];
    return Number(`${sign}1`) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  };
  return (local) => {
    const before = offsetOf(local - DAY_MS);
    const after = offsetOf(local + DAY_MS);
    if (offsetOf(local - before) === before) return before;
    return offsetOf(local - after) === after || skipped === 'earlier' ? after : before;
  };
}

export const DAY_MS = 86_400_000;

export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS);

/** An instant by the clocks of a zone: `2026-03-01 12:30`. */
export const localTime = (timeZone: string, instant: Date): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(instant);
