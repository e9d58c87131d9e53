import { sql } from 'drizzle-orm';
import { formatInstant, systemClock } from '../../lib/time/clock.ts';
import { withTimeout } from '../../lib/time/deadline.ts';
import { countLiveRows, countSingleRows } from '../../store/kinds/status-store.ts';
import { firstSeqSince } from '../../store/records/change-store.ts';
import type { MirrorContext } from '../../db/mirror-context.ts';
import type { Session } from '../../db/session/session.ts';
import { readRows } from '../../db/rows/rows.ts';

const HOURS = 48;

/** Creates the counts of the pages, each with its time; null while the first count takes longer than a page may. */
export function createCounts(parts: MirrorContext) {
  const { session } = parts;
  return {
    rows: cachedCount(parts, async (kinds: readonly string[]) => {
      const rows = new Map<string, { readonly rows: number; readonly single: number }>();
      for (const kind of kinds) {
        const live = await countLiveRows(session, kind);
        rows.set(kind, { rows: live, single: await countSingleRows(session, kind) });
      }
      return rows;
    }),
    /** Change events an hour by kind, the oldest first; a kind without events is absent. */
    hours: cachedCount(parts, (now: Date) => readHours(session, now)),
  };
}

export type Counts = ReturnType<typeof createCounts>;

/** A slow count is shown from the cache and refreshed in the background. */
const SHORT_MS = 100;
/** A count that is older than this is not: who looks after minutes waits for a new one. */
const OLD_MS = 60_000;
/** How long an answer waits for the first count, for one that was short before, and in place of an old one. */
const MAX_WAIT_MS = 1_000;
/** Counting takes one twentieth of the time at most. */
const SHARE = 20;

/** Caches a count; reads it again after a pause that grows with the time that reading takes. */
function cachedCount<Argument, Value>(
  parts: MirrorContext,
  read: (argument: Argument) => Promise<Value>,
): (argument: Argument) => Promise<{ readonly value: Value; readonly at: Date } | null> {
  const { clock, logger } = parts;
  let cached: { readonly value: Value; readonly at: Date } | null = null;
  let tookMs = 0;
  let readAt = -Infinity;
  let reading: Promise<void> | null = null;
  const readAgain = async (argument: Argument): Promise<void> => {
    const startMs = clock.monotonicMs();
    try {
      const at = clock.now();
      cached = { value: await read(argument), at };
    } catch (error) {
      logger.debug({ err: error }, 'the rows and events of the pages could not be counted'); // The next page tries again, and an outage is logged once.
    }
    readAt = clock.monotonicMs();
    tookMs = readAt - startMs;
    reading = null;
  };
  return async (argument) => {
    const ageMs = clock.monotonicMs() - readAt;
    if (ageMs < SHARE * tookMs) return cached;
    reading ??= readAgain(argument);
    if (cached === null || tookMs <= SHORT_MS || ageMs > OLD_MS)
      await withTimeout(systemClock, MAX_WAIT_MS, reading);
    return cached;
  };
}

const HOUR_MS = 3_600_000;

/** `YYYY-MM-DD HH`, UTC. */
const HOUR = {
  sqlite: sql`substr(observed_at, 1, 13)`,
  postgres: sql`to_char(observed_at at time zone 'UTC', 'YYYY-MM-DD HH24')`,
};

const HOUR_COLUMNS = { kind: String, hour: String, events: Number } as const;

async function readHours(session: Session, now: Date): Promise<ReadonlyMap<string, readonly number[]>> {
  const present = Math.floor(now.getTime() / HOUR_MS);
  const starts = Array.from({ length: HOURS }, (_, index) =>
    formatInstant(new Date((present - HOURS + 1 + index) * HOUR_MS)),
  );
  const from = await firstSeqSince(session, starts[0] ?? '');
  const byHour = sql`
    select kind, ${HOUR[session.dialect]} as hour, count(*) as events from changes
    where seq >= ${from} group by 1, 2`;
  const rowsByKind = Map.groupBy(await readRows(session, HOUR_COLUMNS, byHour), (row) => row.kind);
  return new Map(
    [...rowsByKind].map(([kind, rows]) => {
      const events = new Map(rows.map((row) => [row.hour, row.events]));
      return [kind, starts.map((start) => events.get(start.slice(0, 13)) ?? 0)];
    }),
  );
}
