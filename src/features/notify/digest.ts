import { sql } from 'drizzle-orm';
import { formatInstant, latestPlausible } from '../../lib/time/clock.ts';
import { repeatTask, type MirrorContext } from '../../db/mirror-context.ts';
import { readNumber, readRows } from '../../db/rows/rows.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { readMeta, writeMeta } from '../../store/kinds/meta.ts';
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
  const { day, time } = localDate(digestTime.timezone, now);
  const { day: latest } = localDate(digestTime.timezone, latestPlausible(now));
  const isAnotherDay = (storedDay: string): boolean => storedDay < day || storedDay > latest; // A clock that was ahead has written it.
  const isDue = (stored: string | null): boolean =>
    time >= digestTime.at && (stored === null || isAnotherDay(parseDigestPosition(stored).day));
  if (!isDue(await readMeta(session, 'digest'))) return;
  const { stale, ...outlook } = await readOutlook();
  await session.atomically(async (tx) => {
    const stored = await readMeta(tx, 'digest');
    if (!isDue(stored)) return;
    const seq = await latestSeq(tx);
    const after = stored === null ? await seqADayAgo(tx, now) : parseDigestPosition(stored).seq;
    const needs = (await readNeeds(tx, stale, outlook)).map(({ type, facts: data }) => ({
      type,
      data: { ...data },
    }));
    const facts = { needs, changes: await countChanges(tx, after) };
    await addNotification(tx, { type: 'digest.daily', facts, key: day, now });
    await writeMeta(tx, 'digest', JSON.stringify({ day, seq }));
  });
}

function localDate(timeZone: string, instant: Date): { readonly day: string; readonly time: string } {
  const style = { timeZone, dateStyle: 'short', timeStyle: 'short' } as const;
  const [day = '', time = ''] = new Intl.DateTimeFormat('sv-SE', style).format(instant).split(' ');
  return { day, time };
}

const parseDigestPosition = (stored: string): DigestPosition => JSON.parse(stored) as DigestPosition;

const DAY_MS = 86_400_000;

const seqADayAgo = async (tx: Transaction, now: Date): Promise<number> => {
  const dayAgo = formatInstant(new Date(now.getTime() - DAY_MS));
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
