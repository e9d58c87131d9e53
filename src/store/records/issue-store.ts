import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { ISSUES } from '../tables/engine-tables.ts';
import {
  hasRow,
  insertRows,
  omitColumns,
  pickColumns,
  readInChunks,
  select,
  type RowOf,
} from '../../db/rows/rows.ts';

export interface Issue {
  /** Null if the record has no usable id. */
  readonly recordId: string | null;
  /** Null if the issue concerns the whole record. */
  readonly field: string | null;
  readonly code: string;
  readonly detail: string;
}

/** An issue of a whole list rather than of one record. */
export type ListIssue = (typeof OF_LISTS)[number];
const OF_LISTS = ['baseline_uncertified', 'too_many_rows', 'retrieve_unusable'] as const;

/** Issues without a field that no reading of the list closes. */
const NOT_CLOSED_BY_LIST: readonly string[] = [...OF_LISTS, 'twins', 'on_two_pages'];
/** Whether an issue is about a whole record, whose beginning it quotes. */
export const IS_QUARANTINED = sql`field is null and code not in (${sqlList(NOT_CLOSED_BY_LIST)})`;

/**
 * Opens the issues that were found and are not open yet; closes the open issues of these records' fields that were not found,
 * as the fields were just decoded.
 */
export async function saveFieldIssues(
  tx: Transaction,
  decoded: { kind: string; recordIds: readonly string[]; found: readonly Issue[]; now: Date },
): Promise<void> {
  const { kind, found, now } = decoded;
  if (found.length === 0 && !(await hasOpenFieldIssues(tx, kind))) return;
  const open = await listOpenFieldIssues(tx, kind, decoded.recordIds);
  await replaceIssues(tx, kind, { open, found, now });
}

/** The keys of the open issues about whole records. */
export async function readQuarantined(db: Queryable, kind: string): Promise<Set<string>> {
  return new Set((await listOpenQuarantined(db, kind)).map(issueKey));
}

/** Closes the issues about whole records that a complete sweep no longer showed. @param seen The keys that it found again. */
export async function closeQuarantined(tx: Transaction, kind: string, seen: ReadonlySet<string>, now: Date) {
  await closeOthers(tx, await listOpenQuarantined(tx, kind), seen, now);
}

/** Ids of records that cannot become rows, by their open issues. */
export async function readRecordsWithoutRow(db: Queryable, kind: string): Promise<ReadonlySet<string>> {
  return new Set((await listOpenQuarantined(db, kind)).flatMap((issue) => issue.recordId ?? []));
}

const isInOneVersion = ({ code }: Issue): boolean => code !== 'two_versions';

/** Names a kind's records that cannot become rows: by their id, else by the code of the fault. One in two versions is left out: a later response may show one of them. */
export async function readUnreadable(db: Queryable, kind: string, isMeant = isInOneVersion) {
  const open = (await listOpenQuarantined(db, kind)).filter(isMeant);
  return [...new Set(open.map((issue) => issue.recordId ?? issue.code))];
}

/** Closes the open issues of records that are gone. */
export async function closeIssuesOf(tx: Transaction, kind: string, ids: readonly string[], now: Date) {
  if (await hasOpenFieldIssues(tx, kind))
    await closeOthers(tx, await listOpenFieldIssues(tx, kind, ids), new Set(), now);
}

/** Opens an issue about a whole list if it is not open yet, or closes it. */
export async function saveListIssue(
  tx: Transaction,
  kind: string,
  { code, detail, now }: { code: ListIssue; detail: string | null; now: Date },
): Promise<void> {
  const open = await listOpenWhere(tx, kind, sql`code = ${code}`);
  const found = detail === null ? [] : [open[0] ?? { recordId: null, field: null, code, detail }];
  await replaceIssues(tx, kind, { open, found, now });
}

/** Opens the issues of one code that a whole list has shown and that are not open yet, and closes its others. */
export async function saveIssuesOf(
  tx: Transaction,
  kind: string,
  { code, found, now }: { code: string; found: readonly Omit<Issue, 'code'>[]; now: Date },
): Promise<void> {
  const open = await listOpenWhere(tx, kind, sql`code = ${code}`);
  await replaceIssues(tx, kind, { open, found: found.map((issue) => ({ ...issue, code })), now });
}

/** The key of an issue within its kind. */
export function issueKey(issue: Issue): string {
  return JSON.stringify([issue.recordId, issue.field, issue.code, issue.detail]);
}

interface OpenIssue extends Issue {
  readonly key: number;
}

/** Whether an issue of a field is open for some record of a kind. */
export async function hasOpenFieldIssues(db: Queryable, kind: string): Promise<boolean> {
  const open = sql`kind = ${kind} and closed_at is null and field is not null`;
  return hasRow(db, sql`select 1 from issues where ${open} limit 1`);
}

const OPEN = pickColumns(ISSUES, 'id', 'recordId', 'field', 'code', 'detail');

async function listOpenWhere(db: Queryable, kind: string, condition: SQL): Promise<OpenIssue[]> {
  const rows = await select(db, OPEN, sql`where kind = ${kind} and closed_at is null and ${condition}`);
  return rows.map(({ id: key, detail, ...issue }) => ({ key, ...issue, detail: detail ?? '' }));
}

const listOpenFieldIssues = (db: Queryable, kind: string, ids: readonly string[]): Promise<OpenIssue[]> =>
  readInChunks(ids, (some) => listOpenWhere(db, kind, sql`field is not null and record_id in (${some})`));

const listOpenQuarantined = (db: Queryable, kind: string): Promise<OpenIssue[]> =>
  listOpenWhere(db, kind, IS_QUARANTINED);

/** Opens issues that are known not to be open. */
export async function openIssues(tx: Transaction, kind: string, issues: readonly Issue[], now: Date) {
  const firstSeenAt = formatInstant(now);
  const rows = issues.map((issue) => ({ ...issue, kind, firstSeenAt }));
  await insertRows(tx, ISSUES, rows);
}

/** Closes the open ones among these, but for those that were found again. */
async function closeOthers(
  tx: Transaction,
  open: readonly OpenIssue[],
  found: ReadonlySet<string>,
  now: Date,
) {
  for (const issue of open)
    if (!found.has(issueKey(issue)))
      await tx.query(sql`update issues set closed_at = ${formatInstant(now)} where id = ${issue.key}`);
}

/** Closes the open ones that were not found again, and opens those found that are not open yet. */
async function replaceIssues(
  tx: Transaction,
  kind: string,
  { open, found, now }: { open: readonly OpenIssue[]; found: readonly Issue[]; now: Date },
): Promise<void> {
  await closeOthers(tx, open, new Set(found.map(issueKey)), now);
  const openKeys = new Set(open.map(issueKey));
  const fresh = found.filter((issue) => !openKeys.has(issueKey(issue)));
  await openIssues(tx, kind, fresh, now);
}

const LISTED = omitColumns(ISSUES, 'closedAt');

export type ListedIssue = RowOf<typeof LISTED>;

interface IssuesWanted extends Partial<Record<'kind' | 'code', string | undefined>> {
  /** Only issues with a lower id. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The latest open issues, newest first. */
export async function listOpenIssues(db: Queryable, wanted: IssuesWanted): Promise<ListedIssue[]> {
  const { kind, code, before = Number.MAX_SAFE_INTEGER, limit } = wanted;
  const conditions = [
    sql`closed_at is null and id < ${before}`,
    ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
    ...(code === undefined ? [] : [sql`code = ${code}`]),
  ];
  return select(db, LISTED, sql`where ${sql.join(conditions, sql` and `)} order by id desc limit ${limit}`);
}
