import { sql } from 'drizzle-orm';
import { SERVICE_WIDE_REASONS } from '../../catalog/fault-reasons.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import {
  countUpTo,
  orNull,
  readNumber,
  readRows,
  readTexts,
  selectFrom,
  type RowOf,
} from '../../db/rows/rows.ts';
import { sqlList } from '../../db/session/sql-list.ts';

const FRESHNESS = {
  kind: String,
  state: String, // `never`, `running`, or how the last sweep ended.
  reason: orNull(String),
  lastSweepAt: orNull(String),
  certifiedAt: orNull(String),
  lagSeconds: orNull(Number),
  lastChangeAt: orNull(String),
  openIssues: Number,
  heldDeletions: Number,
};
const STATUS = { ...FRESHNESS, rows: Number };

/** One row of `bi_sync_status`. */
type KindStatus = RowOf<typeof STATUS>;

export const readStatus = (db: Queryable): Promise<KindStatus[]> => selectStatus(db, STATUS);

/** The same without the number of rows, which takes long to count where there are very many. */
export type KindFreshness = RowOf<typeof FRESHNESS>;

/** Reads how fresh and how sound each kind is, without counting its rows: neither database evaluates a column that is not read. */
export const readFreshness = (db: Queryable): Promise<KindFreshness[]> => selectStatus(db, FRESHNESS);

const selectStatus = <From extends typeof FRESHNESS>(db: Queryable, columns: From) =>
  selectFrom(db, 'bi_sync_status', columns, sql``);

const ISSUE_COUNT = { kind: String, field: orNull(String), code: String, count: Number };
type IssueCount = RowOf<typeof ISSUE_COUNT>;

/** Open issues by kind, field and code, the most frequent first. */
export async function countIssues(db: Queryable): Promise<IssueCount[]> {
  const counts = sql`
    select kind, field, code, count(*) as count from issues where closed_at is null
    group by kind, field, code order by count(*) desc, kind, field, code`;
  return readRows(db, ISSUE_COUNT, counts);
}

/** True where a kind has more than `few` live rows; reads no more of the table than that. */
export async function hasMoreLiveRows(db: Queryable, table: string, few: number): Promise<boolean> {
  return (await countUpTo(db, sql`${sql.identifier(table)} where _deleted_at is null`, few)) > few;
}

/**
 * When the first reading failed of a kind that none has read to its end since, and how the latest one ended. A reading that was stopped
 * has not failed. A fault of the whole service may date a kind earlier: by the first reading that it ended since one of any kind succeeded.
 */
export async function readFailing(db: Queryable) {
  const failing = sql`
    with pulled as (select * from run_kinds where run_id in (select id from runs where command = 'pull')),
    refused as (select * from pulled where reason in (${sqlList(SERVICE_WIDE_REASONS)}) and reason <> 'interrupted' and started_at > coalesce(
      (select max(started_at) from pulled where state in ('certified', 'complete')), '0001-01-01 00:00:00.000')),
    failing as (select kind, max(run_id) as run_id,
      coalesce(min(case when reason = 'interrupted' then null else started_at end), min(started_at)) as own_since
    from pulled as failed
    where state in ('invalid', 'aborted') and run_id > coalesce(
      (select max(run_id) from pulled where kind = failed.kind and state in ('certified', 'complete')), 0)
    group by kind)
    select kind, state, reason, coalesce((select min(started_at) from refused
      where started_at < own_since and failing.kind in (select kind from refused)), own_since) as since
    from failing join pulled using (kind, run_id) order by kind`;
  return readRows(db, { kind: String, since: String, state: String, reason: orNull(String) }, failing);
}

/** The kinds in which the last verify found records that differ, with their number, until a backfill has read as many again. */
export async function readDiffering(db: Queryable) {
  const differing = sql`
    with compared as (select k.*, r.command from run_kinds as k join runs as r on r.id = k.run_id
      where r.command <> 'pull' and k.state = 'complete')
    select kind, v.rows - unchanged as records, started_at as since from compared as v
    where reason = 'rows_differ'
      and run_id = (select max(run_id) from compared where kind = v.kind and command = 'verify')
      and not exists (
        select 1 from compared as b where kind = v.kind and run_id > v.run_id and b.rows >= v.rows - v.unchanged)
    order by kind`;
  return readRows(db, { kind: String, records: Number, since: String }, differing);
}

/** Kinds whose list has been read to its end at least once. */
export async function sweptKinds(db: Queryable): Promise<ReadonlySet<string>> {
  return new Set(await readTexts(db, sql`select kind from kind_state where complete_sweeps > 0`));
}

/** Whether the service did not show the kind when it was asked for it: an optional kind that is not read, for this reason. */
export const isOff = (status: Pick<KindStatus, 'state' | 'reason'>): boolean =>
  status.state === 'never' && status.reason !== null;

/** The optional kinds of these names that are off. */
export async function readOffKinds(db: Queryable, names: readonly string[]): Promise<KindFreshness[]> {
  return (await readFreshness(db)).filter((kind) => isOff(kind) && names.includes(kind.kind));
}

/** Notes why an optional kind is off, unless its list was read once or is being read. */
export async function saveOff(tx: Transaction, kind: string, reason: string): Promise<void> {
  await tx.query(sql`
    insert into kind_state (kind, tick, state, reason, complete_sweeps, epoch) values (${kind}, 0, 'never', ${reason}, 0, 0)
    on conflict (kind) do update set state = 'never', reason = excluded.reason
    where kind_state.complete_sweeps = 0 and kind_state.owner is null`);
}

/**
 * How many live rows of a kind single answers alone show, and no list: the rest of its rows are in the list, or have left it and wait
 * for the proof of their deletion.
 */
export async function countSingleRows(db: Queryable, table: string): Promise<number> {
  const ids = sql`
    select u.record_id from unlisted_rows as u join ${sql.identifier(table)} as k on k.id = cast(u.record_id as bigint)
    where u.kind = ${table} and k._listed is null and k._deleted_at is null
    union select record_id from deletions where kind = ${table} and state = 'unlisted'
    except select record_id from deletions where kind = ${table} and state in ('suspected', 'held', 'approved', 'rejected')`;
  return (await readNumber(db, sql`select count(*) from (${ids}) as single`)) ?? 0;
}

/** How many live rows a kind has. */
export async function countLiveRows(db: Queryable, table: string): Promise<number> {
  const all = sql.identifier(table);
  const live = sql`
    select (select count(*) from ${all}) - (select count(*) from ${all} where _deleted_at is not null)`;
  return (await readNumber(db, live)) ?? 0;
}

const UNCERTIFIED = {
  kind: String,
  since: orNull(String), // When the list was last known exactly; null = never.
  state: String, // How the last sweep ended; `running` while the next one is under way.
  sweeps: Number, // Complete sweeps since then, without one that did not certify between them.
  reason: orNull(String), // The stable reason of the last sweep that ended,
  detail: orNull(String), // and the same reason for a person.
  // Counts of conclusions that wait for a certificate; suspected records are neither listed nor proven to be gone.
  suspectedDeletions: Number,
  heldDeletions: Number,
  unsettledCreates: Number,
};

/** A kind whose last sweep did not certify its list, with the work that waits for a certificate; instants are UTC texts. */
export type UncertifiedKind = Awaited<ReturnType<typeof readUncertified>>[number];

/** Kinds whose last sweep did not certify them. A kind that is being read is judged by the sweep before. */
export async function readUncertified(db: Queryable) {
  const kinds = sql`
    select s.kind, s.certified_at as since,
      case when s.state = 'running' then coalesce(ended.state, s.state) else s.state end as state, s.uncertified_sweeps as sweeps,
      coalesce(s.reason, ended.reason) as reason, ended.detail,
      (select count(*) from deletions as d
        where d.kind = s.kind and d.state in ('suspected', 'approved')) as suspected_deletions,
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
  return rows.map(({ suspectedDeletions, heldDeletions, unsettledCreates, ...kind }) => {
    return { ...kind, waiting: { suspectedDeletions, heldDeletions, unsettledCreates } };
  });
}

/** Whether no list of the kind was ever known exactly, and one sweep at most has read it to its end. */
export const isFirstReading = (kind: Pick<UncertifiedKind, 'since' | 'sweeps'>): boolean =>
  kind.since === null && kind.sweeps <= 1;
