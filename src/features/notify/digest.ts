import { sql } from 'drizzle-orm';
import { formatInstant, latestPlausible } from '../../lib/time/clock.ts';
import { daysBefore, localTime } from '../../lib/time/zone-offset.ts';
import { repeatTask, type MirrorContext } from '../../db/mirror-context.ts';
import { readNumber, readRows } from '../../db/rows/rows.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { readMetaJson, writeMeta } from '../../store/kinds/meta.ts';
import { readNeeds, type Outlook, type StaleKind } from '../../needs/read-needs.ts';
import { latestSeq } from '../../store/records/change-store.ts';
import { addNotification } from '../../store/notifications/notifications.ts';

/** Reads which kinds are stale by their schedules, and what else the tables of the mirror do not say. */
type ReadOutlook = () => Promise<Outlook & { readonly stale: readonly StaleKind[] }>;

/** When people get the digest: `HH:MM` in a time zone. */
interface DigestTime {
  readonly at: string;
  readonly timezone: string;
}

const POLL_MS = 30_000;

/** Adds the daily digest for e-mail receivers. Returns a function that stops it. */
export function startDigest(mirror: MirrorContext, time: DigestTime, readOutlook: ReadOutlook) {
  const task = (): Promise<void> => addDigest(mirror.session, time, mirror.clock.now(), readOutlook);
  return repeatTask(mirror, 'writing the digest', POLL_MS, task).stop;
}

/** The last digest: its day in the time zone, and the last event before it. */
interface DigestPosition {
  readonly day: string;
  readonly seq: number;
}

/** Adds the digest if its time of the day has passed; the first one counts the changes of a day. */
export async function addDigest(
  session: Session,
  digestTime: DigestTime,
  now: Date,
  readOutlook: ReadOutlook = () => Promise.resolve({ stale: [] }),
): Promise<void> {
  const [day = '', time = ''] = localTime(digestTime.timezone, now).split(' ');
  const [latest = ''] = localTime(digestTime.timezone, latestPlausible(now)).split(' ');
  const isAnotherDay = (storedDay: string): boolean => storedDay < day || storedDay > latest; // A clock that was ahead has written it.
  const isDue = (last: DigestPosition | null): boolean =>
    time >= digestTime.at && (last === null || isAnotherDay(last.day));
  if (!isDue(await readDigestPosition(session))) return;
  const { stale, ...outlook } = await readOutlook();
  await session.atomically(async (tx) => {
    const last = await readDigestPosition(tx);
    if (!isDue(last)) return;
    const seq = await latestSeq(tx);
    const after = last?.seq ?? (await seqADayAgo(tx, now));
    const needs = (await readNeeds(tx, stale, outlook)).map(({ type, facts }) => ({
      type,
      data: { ...facts },
    }));
    const facts = { needs, changes: await countChanges(tx, after) };
    await addNotification(tx, { type: 'digest.daily', facts, key: day, now });
    await writeMeta(tx, 'digest', JSON.stringify({ day, seq }));
  });
}

const readDigestPosition = async (db: Queryable) =>
  (await readMetaJson(db, 'digest')) as DigestPosition | null;

const seqADayAgo = async (tx: Transaction, now: Date): Promise<number> => {
  const dayAgo = formatInstant(daysBefore(now, 1));
  return (await readNumber(tx, sql`select max(seq) from changes where observed_at < ${dayAgo}`)) ?? 0;
};

/** How many records of each kind are new, changed and deleted since an event. */
async function countChanges(tx: Transaction, after: number) {
  const columns = { kind: String, created: Number, updated: Number, deleted: Number };
  return readRows(
    tx,
    columns,
    sql`select kind, sum(case when change in ('created', 'restored') then 1 else 0 end) as created,
        sum(case when change = 'updated' then 1 else 0 end) as updated,
        sum(case when change = 'deleted' then 1 else 0 end) as deleted
      from changes where seq > ${after} group by kind order by kind`,
  );
}
