import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { latestSeq } from '../feed/read-changes.ts';
import { instantText } from '../lib/time/clock.ts';
import { firstSeqSince } from '../mirror/records/change-log-size.ts';
import type { Queryable, Session } from '../mirror/session/session.ts';

/** The hours that are counted, the present one included. */
export const HOURS = 48;

/** Change events an hour. */
export interface Activity {
  /** Counts of the last hours by kind, the oldest first; a kind without events is absent. */
  readonly read: (now: Date) => Promise<ReadonlyMap<string, readonly number[]>>;
}

const HOUR_MS = 3_600_000;
/** Events counted by one query, so that others have their turn between two. */
const AT_ONCE = 20_000;

/** Counts the events of the last hours once, and from then on only those that came since: a request costs no more than that. */
export function createActivity(session: Session): Activity {
  const counts = new Map<string, Map<string, number>>();
  let seq: number | null = null;
  let reading: Promise<void> = Promise.resolve();
  const catchUp = async (now: Date): Promise<void> => {
    const since = instantText(hourBefore(now, HOURS - 1));
    const upTo = await latestSeq(session);
    let from = seq ?? (await firstSeqSince(session, since)) - 1;
    while (from < upTo) {
      const to = Math.min(upTo, from + AT_ONCE);
      for (const { kind, hour, events } of await readHours(session, from, to)) {
        const hours = counts.get(kind) ?? new Map<string, number>();
        hours.set(hour, (hours.get(hour) ?? 0) + events);
        counts.set(kind, hours);
      }
      from = to;
      seq = to;
      await yieldToEventLoop();
    }
    seq = Math.max(from, upTo);
    forget(counts, since.slice(0, 13));
  };
  return {
    read: async (now) => {
      reading = reading.then(() => catchUp(now)); // One after the other: no event is counted twice.
      const read = reading;
      reading = reading.catch(() => undefined); // The caller hears of it; the next one tries again.
      await read;
      return new Map([...counts].map(([kind, hours]) => [kind, lastHours(hours, now)]));
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
