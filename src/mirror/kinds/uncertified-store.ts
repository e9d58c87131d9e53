import { sql } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import type { Queryable } from '../session/session.ts';
import { bigint, optionalBigint, optionalText, optionalTimestamp, text } from '../tables/engine-column.ts';
import { readRows, readTexts } from '../tables/rows.ts';

/** A kind whose last sweep did not certify its list, with the work that waits for a certificate; instants are UTC texts. */
export interface UncertifiedKind {
  readonly kind: string;
  /** When the list was last known exactly; null = never. */
  readonly since: string | null;
  /** How the last sweep ended; `running` while the next one is under way. */
  readonly state: string;
  /** Complete sweeps since then, without one that did not certify between them. */
  readonly sweeps: number;
  /** The stable reason of the last sweep that ended, and the same reason for a person. */
  readonly reason: string | null;
  readonly detail: string | null;
  readonly waiting: WaitingForList;
}

/** Counts of conclusions that wait for a certificate. */
interface WaitingForList {
  /** Records that the list no longer shows and that are not yet proven to be gone. */
  readonly suspectedDeletions: number;
  readonly heldDeletions: number;
  readonly unsettledCreates: number;
}

const UNCERTIFIED = [
  text('kind'),
  optionalTimestamp('since'),
  text('state'),
  optionalBigint('sweeps'),
  optionalText('reason'),
  optionalText('detail'),
  bigint('suspected_deletions'),
  bigint('held_deletions'),
  bigint('unsettled_creates'),
];

/** Kinds whose last sweep did not certify them. A kind that is being read is judged by the sweep before. */
export async function readUncertified(db: Queryable): Promise<UncertifiedKind[]> {
  const kinds = sql`
    select s.kind, s.certified_at as since,
      case when s.state = 'running' then coalesce(ended.state, s.state) else s.state end as state, s.uncertified_sweeps as sweeps,
      coalesce(s.reason, ended.reason) as reason, ended.detail,
      (select count(*) from deletions as d
        where d.kind = s.kind and d.state in ('suspected', 'approved', 'released')) as suspected_deletions,
      (select count(*) from deletions as d where d.kind = s.kind and d.state = 'held') as held_deletions,
      (select count(*) from outbox as o
        where o.kind = s.kind and o.operation = 'create' and o.state = 'unsettled') as unsettled_creates
    from kind_state as s
    left join run_kinds as ended on ended.kind = s.kind and ended.run_id = (
      select max(k.run_id) from run_kinds as k join runs as r on r.id = k.run_id
      where k.kind = s.kind and r.command = 'pull')
    where s.uncertified_sweeps > 0 or s.state not in ('certified', 'running', 'never')
    order by s.kind`;
  const rows = await readRows(db, UNCERTIFIED, kinds);
  return rows.map(({ kind, since, state, sweeps, reason, detail, ...waiting }) => {
    return { kind, since, state, sweeps: sweeps ?? 0, reason, detail, waiting };
  });
}

/** Whether no list of the kind was ever known exactly, and one sweep at most has read it to its end. */
export const isFirstReading = ({ since, sweeps }: Pick<UncertifiedKind, 'since' | 'sweeps'>): boolean =>
  since === null && sweeps <= 1;

/** After this many consecutive complete sweeps without a certificate, a list counts as one that moves while it is read. */
export const MOVING_AFTER = 3;

/** Kinds whose lists move while they are read. */
export async function readMovingKinds(db: Queryable): Promise<string[]> {
  return readTexts(
    db,
    sql`select kind from kind_state where uncertified_sweeps >= ${MOVING_AFTER} order by kind`,
  );
}

const HOURS = 24;

/** Counts a kind's changes since an instant, by the hour of the day (UTC), and the days on which there were any. */
export async function countChangesByHour(
  db: Queryable,
  kind: string,
  since: Date,
): Promise<{ counts: number[]; days: number }> {
  // Instants are UTC texts; PostgreSQL converts them to such, because the connection's time zone is UTC.
  const changes = sql`
    select substr(cast(observed_at as text), 1, 13) as hour, count(*) as changes from changes
    where kind = ${kind} and observed_at >= ${instantText(since)} group by 1`;
  const counts = Array<number>(HOURS).fill(0);
  const days = new Set<string>();
  for (const row of await readRows(db, [text('hour'), bigint('changes')], changes)) {
    const hour = Number(row.hour.slice(11));
    counts[hour] = (counts[hour] ?? 0) + row.changes;
    days.add(row.hour.slice(0, 10));
  }
  return { counts, days: days.size };
}
