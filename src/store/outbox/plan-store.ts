import { createHash } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { optionalText } from '../../db/rows/engine-column.ts';
import { mirrorInstant } from '../kinds/mirror-clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import {
  hasRow,
  insertInto,
  insertRows,
  pickColumns,
  readNumber,
  readRows,
  select,
  selectOne,
  type RowOf,
} from '../../db/rows/rows.ts';
import { PLANS, PLAN_ROWS } from '../tables/plan-tables.ts';

export type StoredPlan = RowOf<typeof PLANS>;
export type PlanRow = Omit<RowOf<typeof PLAN_ROWS>, 'planId'>;
export type NewPlanRow = Omit<PlanRow, 'entryId'>;

/** Stores a plan and returns its number. */
export async function insertPlan(
  tx: Transaction,
  plan: Pick<StoredPlan, 'kind' | 'origin' | 'createdBy'> & { readonly now: Date },
  rows: readonly NewPlanRow[],
): Promise<number> {
  const { kind, origin, createdBy, now } = plan;
  const checksum = planChecksum(kind, rows);
  const row = {
    kind,
    state: 'open' as const,
    origin,
    checksum,
    createdAt: await mirrorInstant(tx, now),
    createdBy,
  };
  const id = await readNumber(tx, sql`${insertInto(PLANS, row)} returning id`);
  if (id === null) throw new Error('The database gave the plan no number.');
  await insertRows(
    tx,
    PLAN_ROWS,
    rows.map((one) => ({ planId: id, ...one })),
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

export const readPlanRows = (db: Queryable, id: number): Promise<PlanRow[]> =>
  select(db, PLAN_ROWS, sql`where plan_id = ${id} order by position`);

const ROW_WITH_ENTRY = [
  ...PLAN_ROWS.columns,
  optionalText('state'),
  optionalText('verdict'),
  optionalText('settlement'),
] as const;

/** A row of a plan with the state, the verdict and the settlement of its entry; of an entry whose key alone is kept, there is a state only. */
export type PlanRowWithEntry = RowOf<typeof ROW_WITH_ENTRY>;

/** The rows of a plan by their positions, each with what has become of its entry. */
export const readRowsWithEntries = (db: Queryable, id: number): Promise<PlanRowWithEntry[]> =>
  readRows(
    db,
    ROW_WITH_ENTRY,
    sql`
      select r.*, coalesce(o.state, k.state) as state, o.verdict, o.settlement from plan_rows r
      left join outbox o on o.id = r.entry_id left join outbox_keys k on k.outbox_id = r.entry_id
      where r.plan_id = ${id} order by r.position`,
  );

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

export async function saveEntryOfRow(
  tx: Transaction,
  planId: number,
  position: number,
  entryId: number,
): Promise<void> {
  await tx.write(sql`
    update plan_rows set entry_id = ${entryId} where plan_id = ${planId} and position = ${position}`);
}
