import { sql } from 'drizzle-orm';
import type { Queryable, Row } from '../session/session.ts';
import { bigint, optionalText, text } from '../tables/engine-column.ts';
import { readNumber, readRows, readTexts } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

/** One row of `bi_sync_status`; instants are UTC texts. */
export interface KindStatus {
  readonly kind: string;
  /** `never`, `running`, or how the last sweep ended. */
  readonly state: string;
  readonly reason: string | null;
  readonly rows: number;
  readonly last_sweep_at: string | null;
  readonly certified_at: string | null;
  readonly lag_seconds: number | null;
  readonly last_change_at: string | null;
  readonly open_issues: number;
  readonly held_deletions: number;
  /** The expected age of unseen changes; null = unknown, because nothing is read between sweeps. */
  readonly unseen_p50_seconds: number | null;
  readonly unseen_p95_seconds: number | null;
}

export async function readStatus(db: Queryable): Promise<KindStatus[]> {
  const rows = await db.query(sql`select * from bi_sync_status`);
  return rows.map((row) => ({ ...standingOf(row), rows: Number(row['rows']) }));
}

/** The same without the number of rows, which takes long to count where there are very many. */
export type KindFreshness = Omit<KindStatus, 'rows'>;

/** Reads how fresh and how sound each kind is, without counting its rows: neither database evaluates a column that is not read. */
export async function readFreshness(db: Queryable): Promise<KindFreshness[]> {
  const rows = await db.query(sql`
    select kind, state, reason, last_sweep_at, certified_at, lag_seconds, last_change_at, open_issues, held_deletions,
      unseen_p50_seconds, unseen_p95_seconds
    from bi_sync_status`);
  return rows.map(standingOf);
}

function standingOf(row: Row): KindFreshness {
  const text = (name: string): string | null => (typeof row[name] === 'string' ? row[name] : null);
  const seconds = (name: string): number | null => ((row[name] ?? null) === null ? null : Number(row[name]));
  return {
    kind: String(row['kind']),
    state: String(row['state']),
    reason: text('reason'),
    last_sweep_at: text('last_sweep_at'),
    certified_at: text('certified_at'),
    lag_seconds: seconds('lag_seconds'),
    last_change_at: text('last_change_at'),
    open_issues: Number(row['open_issues']),
    held_deletions: Number(row['held_deletions']),
    unseen_p50_seconds: seconds('unseen_p50_seconds'),
    unseen_p95_seconds: seconds('unseen_p95_seconds'),
  };
}

const ISSUE_COUNT = [text('kind'), optionalText('field'), text('code'), bigint('count')];
export type IssueCount = RowOf<typeof ISSUE_COUNT>;

/** Open issues by kind, field and code, the most frequent first. */
export async function countIssues(db: Queryable): Promise<IssueCount[]> {
  const counts = sql`
    select kind, field, code, count(*) as count from issues where closed_at is null
    group by kind, field, code order by count(*) desc, kind, field, code`;
  return readRows(db, ISSUE_COUNT, counts);
}

/** True where a kind has more than `few` live rows; reads no more of the table than that. */
export async function hasMoreLive(db: Queryable, table: string, few: number): Promise<boolean> {
  const some = await db.query(sql`
    select 1 from ${sql.identifier(table)} where _deleted_at is null limit ${few + 1}`);
  return some.length > few;
}

const LIVE_COUNT = [text('kind'), bigint('live')];

/** How many live rows each of these kinds has, `most` at most; reads no more of the tables than that. */
export async function countLiveUpTo(
  db: Queryable,
  tables: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, number>> {
  if (tables.length === 0) return new Map();
  const counts = tables.map((table) => {
    const some = sql`select 1 from ${sql.identifier(table)} where _deleted_at is null limit ${most}`;
    return sql`select cast(${table} as text) as kind, (select count(*) from (${some}) some_rows) as live`;
  });
  const rows = await readRows(db, LIVE_COUNT, sql.join(counts, sql` union all `));
  return new Map(rows.map(({ kind, live }) => [kind, live]));
}

/** Kinds whose list has been read to its end at least once. */
export async function sweptKinds(db: Queryable): Promise<ReadonlySet<string>> {
  return new Set(await readTexts(db, sql`select kind from kind_state where complete_sweeps > 0`));
}

/** How many live rows a kind has. */
export async function countLive(db: Queryable, table: string): Promise<number> {
  const all = sql.identifier(table);
  const live = sql`
    select (select count(*) from ${all}) - (select count(*) from ${all} where _deleted_at is not null)`;
  return (await readNumber(db, live)) ?? 0;
}
