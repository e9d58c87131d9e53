import { UsageError } from '../sync-error.ts';
import { isCalendarDate } from './clock.ts';
import { DAY_MS, createZoneOffset, localTime } from './zone-offset.ts';

const INSTANT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

const STORED = /^[\d-]{10} [\d:]{8}\.\d{3}$/; // As a column of the mirror shows it: always UTC.

/**
 * Reads the instant of `--as-of`: an ISO instant, an instant as the mirror stores it, or a date, which means the end of that
 * day (`begin`: its first instant). Another one without a zone (`isZoned`) is of `timezone`. Of today, it is now.
 *
 * @throws {UsageError} `usage.as_of` for anything else, and for an instant that is still to come.
 */
export function asOfInstant(input: string, now: Date, timezone: string) {
  const [, date = '', time = '00:00', zone] =
    INSTANT.exec(
      input
        .trim()
        .replace(STORED, '$&Z')
        .replace(/ ?UTC$/i, 'Z'),
    ) ?? [];
  const isDay = !/\d:\d/.test(input);
  const asUtc = new Date(`${date}T${time}${zone?.toUpperCase() ?? 'Z'}`).getTime();
  if (!isCalendarDate(date) || Number.isNaN(asUtc))
    throw new UsageError(`"${input}" is not an instant.`, { code: 'usage.as_of', hint: FORMS });
  const offsetAt = createZoneOffset(timezone, isDay ? 'later' : 'earlier');
  const instantIn = (local: number): number => (zone === undefined ? local - offsetAt(local) : local);
  const begin = instantIn(asUtc);
  if (begin > now.getTime()) {
    const message = `${input} is in the future: in ${timezone} (schedules.timezone), it is ${localTime(timezone, now)}.`;
    throw new UsageError(message, { code: 'usage.as_of', hint: FORMS });
  }
  const at = isDay ? Math.min(instantIn(asUtc + DAY_MS) - 1, now.getTime()) : begin;
  return { begin: new Date(begin), at: new Date(at), isZoned: zone !== undefined };
}

const FORMS =
  'Write 2026-03-01T12:00:00Z (another zone: -05:00; none: schedules.timezone), or a day: 2026-03-01.';
