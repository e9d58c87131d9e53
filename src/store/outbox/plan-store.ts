import { createHash } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { bigint, optionalText, textColumn } from '../../db/rows/engine-column.ts';
import { mirrorInstant } from '../kinds/mirror-clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import {
  hasRow,
  insertInto,
  insertRows,
  pickColumns,
  readNumber,
  readRow,
  readRows,
  select,
  selectOne,
  type RowOf,
} from '../../db/rows/rows.ts';
import { PLANS, PLAN_ROWS } from '../tables/plan-tables.ts';

export type StoredPlan = RowOf<typeof PLANS>;
export type PlanRow = Omit<RowOf<typeof PLAN_ROWS>, 'planId'>;
export type NewPlanRow = Omit<PlanRow, 'entryId'>;

/** A plan to store. `createdAt`: when its rows began to be compared, if not now; what has changed since is checked later. */
type NewPlan = Pick<StoredPlan, 'kind' | 'origin' | 'createdBy'> & {
  readonly now: Date;
  readonly createdAt?: string;
};

/** Stores a plan and returns its number. */
export async function insertPlan(
  tx: Transaction,
  plan: NewPlan,
  rows: readonly NewPlanRow[],
): Promise<number> {
  const { kind, origin, createdBy, now } = plan;
  const checksum = planChecksum(kind, rows);
  const createdAt = plan.createdAt ?? (await mirrorInstant(tx, now));
  const row = { kind, state: 'open' as const, origin, checksum, createdAt, createdBy };
  const id = await readNumber(tx, sql`${insertInto(PLANS, row)} returning id`);
  if (id === null) throw new Error('The database gave the plan no number.');
  for (const some of inChunks(rows))
    await insertRows(
      tx,
      PLAN_ROWS,
      some.map((one) => ({ planId: id, ...one })),
    );
  return id;
}

/** Equal for equal plans: it covers all that is shown and all that is sent. */
export function planChecksum(kind: string, rows: readonly NewPlanRow[]): string {
  const checksumInput = rows.map((row) => [
    row.position,
    row.operation,
    row.recordId,
    row.cells,
    row.refusal,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([kind, checksumInput]))
    .digest('hex');
}

/** @throws {SyncError} `plan.absent` */
export async function readPlan(db: Queryable, id: number): Promise<StoredPlan> {
  const plan = await selectOne(db, PLANS, sql`where id = ${id}`);
  if (plan !== null) return plan;
  throw new SyncError(`Plan ${id} does not exist.`, {
    code: 'plan.absent',
    hint: 'To list them: bms-sync plan',
  });
}

/** Reads the rows of a plan by their positions. */
export const readPlanRows = (db: Queryable, id: number): Promise<PlanRow[]> =>
  inPages((after) =>
    select(
      db,
      PLAN_ROWS,
      sql`where plan_id = ${id} and position > ${after} order by position limit ${ROWS_A_QUERY}`,
    ),
  );

const ROWS_A_QUERY = 500;

/** Reads rows page by page: a statement over all rows would hold up everybody else. */
async function inPages<Row extends { readonly position: number }>(
  read: (after: number) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let size = ROWS_A_QUERY; size === ROWS_A_QUERY;) {
    const page = await read(rows.at(-1)?.position ?? -1);
    rows.push(...page);
    size = page.length;
  }
  return rows;
}

const ROW_WITH_ENTRY = [
  ...PLAN_ROWS.columns,
  optionalText('state'),
  optionalText('verdict'),
  optionalText('settlement'),
] as const;

/** A row of a plan with the state, the verdict and the settlement of its entry; of an entry whose key alone is kept, there is a state only. */
export type PlanRowWithEntry = RowOf<typeof ROW_WITH_ENTRY>;

const withEntries = sql`plan_rows r
  left join outbox o on o.id = r.entry_id left join outbox_keys k on k.outbox_id = r.entry_id`;

/** Reads rows of a plan behind a position, each with what has become of its entry. */
export const readPlanPage = (
  db: Queryable,
  id: number,
  after: number,
  limit: number,
): Promise<PlanRowWithEntry[]> =>
  readRows(
    db,
    ROW_WITH_ENTRY,
    sql`select r.*, coalesce(o.state, k.state) as state, o.verdict, o.settlement from ${withEntries}
      where r.plan_id = ${id} and r.position > ${after} order by r.position limit ${limit}`,
  );

/** Reads all rows of a plan as `readPlanPage` does. */
export const readRowsWithEntries = (db: Queryable, id: number): Promise<PlanRowWithEntry[]> =>
  inPages((after) => readPlanPage(db, id, after, ROWS_A_QUERY));

const COUNTS = [bigint('updates'), bigint('creates'), bigint('refusals')];

/** Counts the rows of a plan by sort, and its entries by state. */
export async function countPlanRows(db: Queryable, id: number) {
  const isUpdate = sql`operation = 'update'`;
  const counts = await readRow(
    db,
    COUNTS,
    sql`select count(case when cells <> '[]' and ${isUpdate} then 1 end) as updates,
      count(case when cells <> '[]' and not ${isUpdate} then 1 end) as creates, count(refusal) as refusals
      from plan_rows where plan_id = ${id}`,
  );
  const entries = await readRows(
    db,
    [textColumn('state'), bigint('n')],
    sql`select state, count(*) as n from (select coalesce(o.state, k.state) as state from ${withEntries}
      where r.plan_id = ${id} and r.entry_id is not null) e where state is not null group by state`,
  );
  const { updates = 0, creates = 0, refusals = 0 } = counts ?? {};
  return {
    updates,
    creates,
    refusals,
    entries: Object.fromEntries(entries.map((row) => [row.state, row.n])),
  };
}

/**
 * Reads the updates of a plan whose records may have changed since an instant: the records have events since, are deleted, or
 * bear a later instant, as a change of an ignored field does, which has no event.
 *
 * @param firstSeq The first event since then.
 */
export async function readChangedRows(
  db: Queryable,
  plan: Pick<StoredPlan, 'id' | 'kind'>,
  since: string,
  firstSeq: number,
): Promise<PlanRow[]> {
  const events = sql`select record_id from changes where seq >= ${firstSeq} and kind = ${plan.kind}`;
  const columns = PLAN_ROWS.columns.map((column) => sql`r.${sql.identifier(column.name)}`);
  return inPages((after) =>
    readRows(
      db,
      PLAN_ROWS.columns,
      sql`select ${sql.join(columns, sql`, `)} from plan_rows r
        left join ${sql.identifier(plan.kind)} m on m.id = cast(r.record_id as bigint)
        where r.plan_id = ${plan.id} and r.position > ${after} and r.operation = 'update' and r.cells <> '[]'
          and (m.id is null or m._deleted_at is not null or m._changed_at >= ${since} or r.record_id in (${events}))
        order by r.position limit ${ROWS_A_QUERY}`,
    ),
  );
}

/** Removes plans with their rows. @param condition What follows `delete from plans where`. */
export async function deletePlans(tx: Transaction, condition: SQL): Promise<void> {
  await tx.query(sql`delete from plan_rows where plan_id in (select id from plans where ${condition})`);
  await tx.query(sql`delete from plans where ${condition}`);
}

/** The latest plans, the newest first. @param before Only plans with a lower number. */
export const listPlans = (
  db: Queryable,
  limit: number,
  before = Number.MAX_SAFE_INTEGER,
): Promise<StoredPlan[]> => select(db, PLANS, sql`where id < ${before} order by id desc limit ${limit}`);

/** The latest open plans without an approval, by number. */
export async function plansToApprove(db: Queryable, limit: number): Promise<readonly number[]> {
  const waiting = sql`where state = 'open' and approved_by is null order by id desc limit ${limit}`;
  return (await select(db, pickColumns(PLANS, 'id'), waiting)).map((row) => row.id);
}

/** Marks an open plan as applied; false if it is already. */
export const closePlan = (tx: Transaction, id: number, by: string, now: Date): Promise<boolean> =>
  hasRow(
    tx,
    sql`update plans set state = 'applied', applied_at = ${formatInstant(now)}, applied_by = ${by}
      where id = ${id} and state = 'open' returning id`,
  );

/** Notes who was the first to approve an open plan; false if it is applied already. */
export const saveApproval = (tx: Transaction, id: number, by: string, now: Date): Promise<boolean> =>
  hasRow(
    tx,
    sql`update plans set approved_at = coalesce(approved_at, ${formatInstant(now)}), approved_by = coalesce(approved_by, ${by})
      where id = ${id} and state = 'open' returning id`,
  );

/** Writes into the rows of a plan which entries they have become, by the keys of these. */
export const saveEntriesOfRows = (tx: Transaction, id: number): Promise<void> =>
  tx.write(sql`
    update plan_rows set entry_id = coalesce(
      (select o.id from outbox o where o.idempotency_key = 'plan:' || plan_id || ':' || position),
      (select k.outbox_id from outbox_keys k where k.idempotency_key = 'plan:' || plan_id || ':' || position))
    where plan_id = ${id} and cells <> '[]'`);
