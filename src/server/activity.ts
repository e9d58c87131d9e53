import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { latestSeq } from '../feed/read-changes.ts';
import type { Logger } from '../lib/log/logger.ts';
import { instantText } from '../lib/time/clock.ts';
import { firstSeqSince } from '../mirror/records/change-log-size.ts';
import type { Queryable, Session } from '../mirror/session/session.ts';

/** The hours that are counted, the present one included. */
const HOURS = 48;

/** Change events an hour. */
export interface Activity {
  /**
   * Counts of the last hours by kind, the oldest first; a kind without events is absent. Null until they were counted for the
   * first time, where they are too many to be counted before an answer.
   */
  readonly read: (now: Date) => Promise<ReadonlyMap<string, readonly number[]> | null>;
}

interface ActivityParts {
  readonly session: Session;
  readonly logger: Pick<Logger, 'warn'>;
  /** So many events are counted before an answer, and by one query; more are counted beside it. */
  readonly atOnce?: number;
}

const HOUR_MS = 3_600_000;
const AT_ONCE = 20_000;

/** Counts the events of the last hours once, and from then on only those that came since: a request costs no more than that. */
export function createActivity({ session, logger, atOnce = AT_ONCE }: ActivityParts): Activity {
  const counts = new Map<string, Map<string, number>>();
  let seq: number | null = null;
  let isKnown = false;
  let counting: Promise<void> = Promise.resolve();
  const catchUp = async (since: string): Promise<void> => {
    const upTo = await latestSeq(session);
    seq ??= upTo <= atOnce ? 0 : (await firstSeqSince(session, since)) - 1;
    while (seq < upTo) {
      const to = Math.min(upTo, seq + atOnce);
      for (const { kind, hour, events } of await readHours(session, seq, to)) {
        const hours = counts.get(kind) ?? new Map<string, number>();
        hours.set(hour, (hours.get(hour) ?? 0) + events);
        counts.set(kind, hours);
      }
      seq = to;
      await yieldToEventLoop(); // Others have their turn between two queries.
    }
    forget(counts, since.slice(0, 13));
    isKnown = true;
  };
  return {
    read: async (now) => {
      const since = instantText(hourBefore(now, HOURS - 1));
      const isShort = (await latestSeq(session)) - (seq ?? 0) <= atOnce;
      // One after the other: no event is counted twice.
      const counted = counting.then(() =>
        isShort ? catchUp(since) : yieldToEventLoop().then(() => catchUp(since)),
      );
      counting = counted.catch((error: unknown) => {
        logger.warn({ err: error }, 'the change events could not be counted'); // The next one tries again.
      });
      if (isShort) await counted;
      return isKnown ? new Map([...counts].map(([kind, hours]) => [kind, lastHours(hours, now)])) : null;
    },
  };
}

const hourBefore = (now: Date, hours: number): Date =>
  new Date((Math.floor(now.getTime() / HOUR_MS) - hours) * HOUR_MS);

function lastHours(hours: ReadonlyMap<string, number>, now: Date): readonly number[] {
  return Array.from({ length: HOURS }, (_, index) => {
    const hour = instantText(hourBefore(now, HOURS - 1 - index)).slice(0, 13);
    return hours.get(hour) ?? 0;
  });
}

function forget(counts: ReadonlyMap<string, Map<string, number>>, oldest: string): void {
  for (const hours of counts.values()) for (const hour of hours.keys()) if (hour < oldest) hours.delete(hour);
}

interface HourCount {
  readonly kind: string;
  /** `YYYY-MM-DD HH`, UTC. */
  readonly hour: string;
  readonly events: number;
}

const HOUR = {
  sqlite: sql`substr(observed_at, 1, 13)`,
  postgres: sql`to_char(observed_at at time zone 'UTC', 'YYYY-MM-DD HH24')`,
};

async function readHours(
  session: Queryable & Pick<Session, 'dialect'>,
  from: number,
  to: number,
): Promise<HourCount[]> {
  const rows = await session.query(sql`
    select kind, ${HOUR[session.dialect]} as hour, count(*) as events from changes
    where seq > ${from} and seq <= ${to} group by 1, 2`);
  return rows.map((row) => ({
    kind: String(row['kind']),
    hour: String(row['hour']),
    events: Number(row['events']),
  }));
}
