import { hash } from 'node:crypto';
import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import { SyncError } from '../../lib/sync-error.ts';
import { inSlices } from '../../db/rows/slices.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import {
  assignments,
  countUpTo,
  hasRow,
  insertInto,
  insertRows,
  orNull,
  pickColumns,
  readNumber,
  readRow,
  readRows,
  select,
  selectOne,
  type RowOf,
} from '../../db/rows/rows.ts';
import { PLANS, PLAN_ROWS } from './tables.ts';

export type StoredPlan = typeof PLANS.$inferSelect;
export type NewPlanRow = Omit<typeof PLAN_ROWS.$inferSelect, 'planId'>;

/** Stores a plan and returns its number. `createdAt`: when its rows began to be compared; what has changed since is checked later. */
export async function insertPlan(
  tx: Transaction,
  { kind, origin, createdBy, createdAt }: Pick<StoredPlan, 'kind' | 'origin' | 'createdBy' | 'createdAt'>,
  rows: readonly NewPlanRow[],
): Promise<number> {
  const checksum = planChecksum(kind, rows);
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
  const shown = rows.map((row) => [row.position, row.operation, row.recordId, row.cells, row.refusal]);
  return hash('sha256', JSON.stringify([kind, shown]));
}

/** The first applied plan from this origin; null if there is none. One that waits may still come to nothing. */
export const findAppliedFrom = (db: Queryable, origin: string): Promise<number | null> =>
  readNumber(db, sql`select min(id) from plans where origin = ${origin} and state = 'applied'`);

/** @throws {SyncError} `plan.absent` */
export async function readPlan(db: Queryable, id: number): Promise<StoredPlan> {
  const plan = await selectOne(db, PLANS, sql`where id = ${id}`);
  if (plan !== null) return plan;
  throw new SyncError(`Plan ${id} does not exist.`, {
    code: 'plan.absent',
    hint: 'To list them: bms-sync plans',
  });
}

const OF_ENTRY = {
  entryId: orNull(Number),
  state: orNull(String),
  verdict: orNull(String),
  settlement: orNull(String),
};
const ROW_WITH_ENTRY = { ...getTableColumns(PLAN_ROWS), ...OF_ENTRY };

/** A row of a plan with its entry, once it is applied; of an entry whose key alone is kept, there are number and state only. */
export type PlanRow = RowOf<typeof ROW_WITH_ENTRY>;

/** The key of the entry that a row of a plan becomes. */
export const entryKeyOf = (planId: number, position: number | string): string => `plan:${planId}:${position}`;

/** The rows `r` of a plan, each with its entry: the one that applying the plan has stored. */
const withEntries = (id: number): SQL => {
  const isStored = sql`p.state = 'applied' and (${CHANGING} or r.refusal is null)`; // Exclusions may empty its cells since.
  const key = sql`case when ${isStored} then ${entryKeyOf(id, '')} || r.position end`;
  return sql`plans p join plan_rows r on r.plan_id = p.id left join outbox o on o.idempotency_key = ${key}
    left join outbox_keys k on k.idempotency_key = ${key}`;
};

/** Rows `r` that change something: one without cells is refused as a whole. */
export const CHANGING = sql`r.cells <> '[]'`;

/** Reads rows of a plan behind a position, each with what has become of its entry. @param which Only these rows `r`. */
export const readPlanPage = (
  db: Queryable,
  id: number,
  { after, limit, which = sql`true` }: { after: number; limit: number; which?: SQL },
): Promise<PlanRow[]> =>
  readRows(
    db,
    ROW_WITH_ENTRY,
    sql`select r.*, coalesce(o.id, k.outbox_id) as entry_id, coalesce(o.state, k.state) as state, o.verdict, o.settlement
      from ${withEntries(id)}
      where r.plan_id = ${id} and r.position > ${after} and ${which} order by r.position limit ${limit}`,
  );

const ROWS_A_SLICE = 200;

/** Yields the rows of a plan in slices, all or these: a statement over all of them would hold up everybody else. */
export const planRowSlices = (db: Queryable, id: number, which?: SQL) =>
  inSlices(
    ROWS_A_SLICE,
    (after) => readPlanPage(db, id, { after, limit: ROWS_A_SLICE, ...(which && { which }) }),
    -1,
    (row) => row.position,
  );

/** Reads all rows of a plan. */
export const readPlanRows = async (db: Queryable, id: number): Promise<readonly PlanRow[]> =>
  (await Array.fromAsync(planRowSlices(db, id))).flat();

const COUNTS = { updates: Number, creates: Number, refusals: Number };

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
    { state: String, n: Number },
    sql`select state, count(*) as n from (select coalesce(o.state, k.state) as state from ${withEntries(id)}
      where r.plan_id = ${id}) e where state is not null group by state`,
  );
  const none = { updates: 0, creates: 0, refusals: 0 };
  return { ...(counts ?? none), entries: Object.fromEntries(entries.map((row) => [row.state, row.n])) };
}

/**
 * Whether a row `r` is an update whose record may have changed since an instant: it has events since, is deleted, or bears a later
 * instant, as a change of an ignored field does, which has no event.
 *
 * @param firstSeq The first event since then.
 */
export function isChangedUpdate(kind: string, since: string, firstSeq: number): SQL {
  const events = sql`select record_id from changes where seq >= ${firstSeq} and kind = ${kind}`;
  const unchanged = sql`
    select 1 from ${sql.identifier(kind)} m
    where m.id = cast(r.record_id as bigint) and m._deleted_at is null and m._changed_at < ${since}`;
  const isChanged = sql`(r.record_id in (${events}) or not exists (${unchanged}))`;
  return sql`r.operation = 'update' and ${CHANGING} and ${isChanged}`;
}

/** Removes plans with their rows. @param condition What follows `delete from plans where`. */
export async function deletePlans(tx: Transaction, condition: SQL): Promise<void> {
  await tx.query(sql`delete from plan_rows where plan_id in (select id from plans where ${condition})`);
  await tx.query(sql`delete from plans where ${condition}`);
}

export const countPlans = (db: Queryable): Promise<number> => countUpTo(db, sql`plans`);

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

const REFUSAL = { refusal: String, n: Number, first: Number } as const;
export type Refusal = RowOf<typeof REFUSAL>;

/** Reads why rows of a plan change nothing: each reason once, with the number of its rows and the first of them. */
export const readRefusals = (db: Queryable, id: number, limit: number): Promise<Refusal[]> =>
  readRows(
    db,
    REFUSAL,
    sql`select refusal, count(*) as n, min(position) as first from plan_rows
      where plan_id = ${id} and cells = '[]' and refusal is not null group by refusal order by min(position) limit ${limit}`,
  );

/** The open plans of a user from an origin, by number, the oldest first. */
export async function openPlansFrom(db: Queryable, origin: string, by: string): Promise<readonly number[]> {
  const open = sql`where state = 'open' and origin = ${origin} and created_by = ${by} order by id`;
  return (await select(db, pickColumns(PLANS, 'id'), open)).map((row) => row.id);
}

/** Writes a decision on an open plan; false if it is not open any more, or no longer as `seen`. */
export const decidePlan = (
  tx: Transaction,
  id: number,
  decision: Partial<StoredPlan>,
  seen = sql`true`,
): Promise<boolean> =>
  hasRow(
    tx,
    sql`update plans set ${assignments(PLANS, decision)} where id = ${id} and state = 'open' and ${seen} returning id`,
  );
