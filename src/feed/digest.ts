import { sql } from 'drizzle-orm';
import { createFaultLog } from '../lib/log/fault-log.ts';
import type { Logger } from '../lib/log/logger.ts';
import { repeat } from '../lib/log/repeat.ts';
import { aheadOf, instantOf, type Clock } from '../lib/time/clock.ts';
import { isAway } from '../db/session/errors.ts';
import { bigint, textColumn } from '../db/rows/engine-column.ts';
import { readRows } from '../db/rows/rows.ts';
import type { Session, Transaction } from '../db/session/session.ts';
import { readDamage } from '../store/integrity-check.ts';
import { readMeta, writeMeta } from '../store/kinds/meta.ts';
import { readVolatile } from '../store/runs/volatile-fields.ts';
import { readFreshness, sweptAtOf } from '../store/kinds/status-store.ts';
import { readFrozen } from '../store/outbox/freeze-store.ts';
import { readBlocks } from '../store/outbox/outbox-queue.ts';
import { listEntries } from '../store/outbox/outbox-store.ts';
import { latestSeq } from '../store/records/change-store.ts';
import { readHolds } from '../store/records/deletion-store.ts';
import * as news from '../store/webhooks/news.ts';

interface DigestParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** When people get the digest: `HH:MM` in a time zone. */
interface DigestTime {
  readonly at: string;
  readonly timezone: string;
}

const LOOK_MS = 30_000;

/** Leaves the digest of each day, for those who read e-mail. Returns a function that stops it. */
export function startDigest(parts: DigestParts, time: DigestTime): () => Promise<void> {
  const { session, clock } = parts;
  const faults = createFaultLog({ ...parts, isTold: isAway });
  const task = (): Promise<void> => leaveDigest(session, time, clock.now());
  return repeat({ clock, faults, everyMs: LOOK_MS, name: 'writing the digest', task }).stop;
}

/** The last digest: its day in the time zone, and the last event before it. */
interface Mark {
  readonly day: string;
  readonly seq: number;
}

/** Leaves the digest if its time of the day has passed; the first one comes the day after. */
export async function leaveDigest(session: Session, { at, timezone }: DigestTime, now: Date): Promise<void> {
  const { day, time } = dateIn(timezone, now);
  const { day: latest } = dateIn(timezone, aheadOf(now));
  const isOther = (other: string): boolean => other < day || other > latest; // A clock that was ahead has written it.
  const isDue = (stored: string | null): boolean =>
    stored === null || (time >= at && isOther(markIn(stored).day));
  if (!isDue(await readMeta(session, 'digest'))) return;
  await session.atomically(async (tx) => {
    const stored = await readMeta(tx, 'digest');
    if (!isDue(stored)) return;
    const seq = await latestSeq(tx);
    if (stored !== null) await news.leaveNews(tx, await writeDigest(tx, markIn(stored).seq, day, now));
    await writeMeta(tx, 'digest', JSON.stringify({ day, seq }));
  });
}

function dateIn(timeZone: string, instant: Date): { readonly day: string; readonly time: string } {
  const style = { timeZone, dateStyle: 'short', timeStyle: 'short' } as const;
  const [day = '', time = ''] = new Intl.DateTimeFormat('sv-SE', style).format(instant).split(' ');
  return { day, time };
}

const markIn = (stored: string): Mark => JSON.parse(stored) as Mark;

async function writeDigest(tx: Transaction, after: number, day: string, now: Date): Promise<news.News> {
  const needs = (await needsNow(tx, now)).map(({ type, kind, facts }) => ({
    type,
    data: { kind, ...facts },
  }));
  const columns = [textColumn('kind'), ...['created', 'updated', 'deleted'].map((name) => bigint(name))];
  const changes = await readRows(
    tx,
    columns,
    sql`select kind, sum(case when change in ('created', 'restored') then 1 else 0 end) as created,
        sum(case when change = 'updated' then 1 else 0 end) as updated,
        sum(case when change = 'deleted' then 1 else 0 end) as deleted
      from changes where seq > ${after} group by kind order by kind`,
  );
  return news.digestNews({ needs, changes }, day, now);
}

const PARKED_NAMED = 20;
const DAY_MS = 86_400_000;

/** What waits for a person at this moment, as the news that told of it. */
async function needsNow(tx: Transaction, now: Date): Promise<readonly news.News[]> {
  const damage = await readDamage(tx);
  const frozen = await readFrozen(tx);
  const held = (await readHolds(tx)).filter(({ state }) => state === 'held');
  const parked = await listEntries(tx, ['parked'], PARKED_NAMED);
  const blocks = await readBlocks(tx);
  const swept = [...sweptAtOf(await readFreshness(tx))];
  const volatile = await readVolatile(tx);
  const stale = swept.filter(([, at]) => at !== null && now.getTime() - at.getTime() > DAY_MS);
  return [
    ...(damage === null ? [] : [news.damagedNews(damage.reason, now)]),
    ...(frozen === null ? [] : [news.frozenNews(frozen.reason, now)]),
    ...held.map(({ kind, records, since }) => news.heldNews(kind, { records, since: instantOf(since) }, now)),
    ...parked.map((entry) => news.entryNews('parked', entry, now)),
    ...blocks.map(({ kind, reason }) => news.blockedNews(kind, reason, now)),
    ...(volatile === null ? [] : [news.volatileNews(null, volatile, now)]),
    ...stale.map(([kind, at]) => news.staleNews(kind, at, now)),
  ];
}
