import { sql } from 'drizzle-orm';
import type { Logger } from '../lib/log/logger.ts';
import { instantText } from '../lib/time/clock.ts';
import type { Clock } from '../lib/time/clock.ts';
import { countLive, countLiveUpTo } from '../mirror/kinds/status-store.ts';
import type { KindFreshness } from '../mirror/kinds/status-store.ts';
import { firstSeqSince, latestSeq } from '../mirror/records/change-store.ts';
import type { Queryable, Session } from '../mirror/session/session.ts';
import { integer, text } from '../mirror/tables/engine-column.ts';
import { readRows } from '../mirror/tables/rows.ts';

/** The hours that are counted, the present one included. */
const HOURS = 48;

export interface Activity {
  /**
   * Change events an hour by kind, the oldest first; a kind without events is absent. Null until they were counted for the
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
    }
    forget(counts, since.slice(0, 13));
    isKnown = true;
  };
  return {
    read: async (now) => {
      const since = instantText(hourBefore(now, HOURS - 1));
      const isShort = (await latestSeq(session)) - (seq ?? 0) <= atOnce;
      // One after the other: no event is counted twice.
      const counted = counting.then(() => catchUp(since));
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

/** `YYYY-MM-DD HH`, UTC. */
const HOUR = {
  sqlite: sql`substr(observed_at, 1, 13)`,
  postgres: sql`to_char(observed_at at time zone 'UTC', 'YYYY-MM-DD HH24')`,
};

const HOUR_COLUMNS = [text('kind'), text('hour'), integer('events')] as const;

async function readHours(session: Queryable & Pick<Session, 'dialect'>, from: number, to: number) {
  const hours = sql`
    select kind, ${HOUR[session.dialect]} as hour, count(*) as events from changes
    where seq > ${from} and seq <= ${to} group by 1, 2`;
  return await readRows(session, HOUR_COLUMNS, hours);
}

type Counted = Pick<KindFreshness, 'kind' | 'last_sweep_at' | 'last_change_at'>;

export interface RowCounts {
  /**
   * Live rows by kind. Counts small kinds again where a sweep has ended or an event was found. A large kind is absent until it
   * was counted once.
   */
  readonly read: (kinds: readonly Counted[]) => Promise<ReadonlyMap<string, number>>;
}

interface CountParts {
  readonly session: Queryable;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Kinds with more rows are counted beside the requests. */
  readonly most?: number;
}

interface Known {
  readonly rows: number;
  /** Differs once a sweep has ended, or an event was found. */
  readonly standing: string;
  readonly at: number;
}

/** Rows land before their sweep has ended, too, and large kinds change all day: a count is as good as new until then. */
const FRESH_MS = 10_000;

/** So many rows are counted within some milliseconds; a million take a page's whole time, or longer. */
const MOST = 20_000;

/** Counts the live rows of each kind, and keeps the numbers until they may have changed. */
export function createRowCounts({ session, clock, logger, most = MOST }: CountParts): RowCounts {
  const known = new Map<string, Known>();
  const counting = new Set<string>();
  const note = (kind: string, standing: string, rows: number): void => {
    known.set(kind, { rows, standing, at: clock.monotonicMs() });
  };
  const countBeside = async (kind: string, standing: string): Promise<void> => {
    if (counting.has(kind)) return;
    counting.add(kind);
    try {
      note(kind, standing, await countLive(session, kind));
    } catch (error) {
      logger.warn({ err: error, kind }, 'the rows of a kind could not be counted');
    } finally {
      counting.delete(kind);
    }
  };
  return {
    read: async (kinds) => {
      const few = new Map<string, string>();
      for (const { kind, last_sweep_at: sweptAt, last_change_at: changedAt } of kinds) {
        const standing = `${sweptAt ?? ''} ${changedAt ?? ''}`;
        const when = counting.has(kind)
          ? 'later'
          : whenToCount(known.get(kind), standing, { now: clock.monotonicMs(), most });
        if (when === 'now') few.set(kind, standing);
        if (when === 'beside') void countBeside(kind, standing);
      }
      for (const [kind, rows] of await countLiveUpTo(session, [...few.keys()], most + 1)) {
        const standing = few.get(kind) ?? '';
        if (rows <= most) note(kind, standing, rows);
        else void countBeside(kind, standing);
      }
      return new Map([...known].map(([kind, { rows }]) => [kind, rows]));
    },
  };
}

/** Whether a kind is counted before the answer or beside it; later, where its count is as good as new. */
function whenToCount(
  known: Known | undefined,
  standing: string,
  { now, most }: { readonly now: number; readonly most: number },
): 'now' | 'beside' | 'later' {
  if (known === undefined) return 'now';
  const isLasting = known.rows > most || known.standing === standing;
  if (!isLasting) return 'now';
  return now - known.at < FRESH_MS ? 'later' : 'beside';
}
