import { UsageError } from '../../lib/sync-error.ts';
import { isCalendarDate } from '../../lib/time/calendar.ts';
import { instantText } from '../../lib/time/clock.ts';
import type { KnownPast } from '../../mirror/records/as-of.ts';

const INSTANT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;
const DAY_MS = 86_400_000;

/**
 * Reads the instant of `--as-of`: an ISO instant, an instant as the mirror writes it, or a date, which means the end of that
 * day. Without a zone it is UTC. Of today, it is now.
 *
 * @throws {UsageError} `usage.as_of` for anything else, and for an instant that is still to come.
 */
export function asOfInstant(given: string, now: Date): Date {
  const [, date = '', time, zone = 'Z'] = INSTANT.exec(given.trim()) ?? [];
  const isDay = time === undefined;
  const instant = new Date(`${date}T${time ?? '00:00'}${zone.toUpperCase()}`).getTime();
  if (!isCalendarDate(date) || Number.isNaN(instant))
    throw new UsageError(`"${given}" is no instant.`, { code: 'usage.as_of', hint: FORMS });
  if (instant > now.getTime())
    throw new UsageError(`${given} is still to come.`, { code: 'usage.as_of', hint: FORMS });
  return new Date(isDay ? Math.min(instant + DAY_MS - 1, now.getTime()) : instant);
}

const FORMS =
  'Write 2026-03-01T12:00:00Z (another zone: +01:00), or 2026-03-01 for the end of that day in UTC.';

/** Why the state at an instant cannot be told; null where it can. */
export function whyUnknown(kind: string, instant: Date, past: KnownPast): string | null {
  const at = instantText(instant);
  const { firstSeenAt, forgottenBefore } = past;
  if (firstSeenAt === null) return `no record of ${kind} has been read yet`;
  if (at < firstSeenAt) return `the first record of ${kind} was read at ${firstSeenAt} UTC`;
  if (forgottenBefore !== null && at < forgottenBefore)
    return `change events before ${forgottenBefore} UTC were removed (retention.changesDays)`;
  return null;
}

/** What to say beside a state of which the mirror knew only a part then; null where it knew the whole list. */
export function whyPartial(kind: string, instant: Date, { baselineAt }: KnownPast): string | null {
  if (baselineAt !== null && instantText(instant) >= baselineAt) return null;
  const since = baselineAt === null ? 'it still is not' : `it is since ${baselineAt} UTC`;
  return `The list of ${kind} was not known whole at that instant (${since}): records may be missing.`;
}
