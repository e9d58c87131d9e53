import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { instantText } from '../../lib/time/clock.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { integer, optionalText, text } from '../../db/rows/engine-column.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import {
  hasRow,
  insertInto,
  append,
  pick,
  readNumber,
  readRows,
  select,
  selectOne,
} from '../../db/rows/rows.ts';
import type { RowOf } from '../../db/rows/rows.ts';
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
  const row = { kind, state: 'open' as const, origin, checksum, createdAt: instantText(now), createdBy };
  const id = await readNumber(tx, sql`${insertInto(PLANS, row)} returning id`);
  if (id === null) throw new Error('The database gave the plan no number.');
  await append(
    tx,
    PLAN_ROWS,
    rows.map((one) => ({ planId: id, ...one })),
  );
  return id;
}

/** Equal for equal plans: it covers all that is shown and all that is sent. */
export function planChecksum(kind: string, rows: readonly NewPlanRow[]): string {
  const told = rows.map(({ position, operation, recordId, cells, refusal }) => [
    position,
    operation,
    recordId,
    cells,
    refusal,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([kind, told]))
    .digest('hex');
}

/** @throws {SyncError} `plan.absent` */
export async function readPlan(db: Queryable, id: number): Promise<StoredPlan> {
  const plan = await selectOne(db, PLANS, sql`where id = ${id}`);
  if (plan !== null) return plan;
  throw new SyncError(`There is no plan ${id}.`, {
    code: 'plan.absent',
    hint: 'To list them: bms-sync plan',
  });
}

export const readPlanRows = (db: Queryable, id: number): Promise<PlanRow[]> =>
  select(db, PLAN_ROWS, sql`where plan_id = ${id} order by position`);

/** A row of a plan with the state and the verdict of its entry. */
const FOLLOWED_ROW = [...PLAN_ROWS.columns, optionalText('state'), optionalText('verdict')] as const;
export type FollowedRow = RowOf<typeof FOLLOWED_ROW>;

export interface RowsWanted {
  /** Only rows behind this position. */
  readonly after?: number | undefined;
  readonly limit?: number;
}

const ENTRIES = sql`
  left join outbox o on o.id = r.entry_id left join outbox_keys k on k.outbox_id = r.entry_id`;

/** The rows of a plan by their positions, each with what has become of its entry. */
export const followRows = (
  db: Queryable,
  id: number,
  { after = 0, limit = Number.MAX_SAFE_INTEGER }: RowsWanted,
): Promise<FollowedRow[]> =>
  readRows(
    db,
    FOLLOWED_ROW,
    sql`
      select r.*, coalesce(o.state, k.state) as state, o.verdict from plan_rows r ${ENTRIES}
      where r.plan_id = ${id} and r.position > ${after} order by r.position limit ${limit}`,
  );

const COUNTED = [
  text<'operation', PlanRow['operation']>('operation'),
  integer('changes'),
  integer('refused'),
  optionalText('state'),
  integer('n'),
] as const;

/** How many rows of a plan change something, how many are refused, and how many of their entries are in which state. */
export async function countRows(db: Queryable, id: number) {
  const rows = await readRows(
    db,
    COUNTED,
    sql`
      select r.operation, case r.cells when '[]' then 0 else 1 end as changes,
        case when r.refusal is null then 0 else 1 end as refused, coalesce(o.state, k.state) as state, count(*) as n
      from plan_rows r ${ENTRIES} where r.plan_id = ${id} group by 1, 2, 3, 4`,
  );
  const sum = (some: readonly { readonly n: number }[]): number => some.reduce((all, { n }) => all + n, 0);
  const changing = rows.filter(({ changes }) => changes === 1);
  const entries = Map.groupBy(changing, ({ state }) => state ?? '');
  entries.delete('');
  return {
    updates: sum(changing.filter(({ operation }) => operation === 'update')),
    creates: sum(changing.filter(({ operation }) => operation === 'create')),
    refusals: sum(rows.filter(({ refused }) => refused === 1)),
    entries: Object.fromEntries([...entries].map(([state, some]) => [state, sum(some)])),
  };
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

/** The latest open plans that nobody has approved, by their numbers. */
export async function plansToApprove(db: Queryable, limit: number): Promise<readonly number[]> {
  const waiting = sql`where state = 'open' and approved_by is null order by id desc limit ${limit}`;
  return (await select(db, pick(PLANS, 'id'), waiting)).map(({ id }) => id);
}

/** Marks an open plan as applied; false if it is already. */
export const closePlan = (tx: Transaction, id: number, by: string, now: Date): Promise<boolean> =>
  hasRow(
    tx,
    sql`update plans set state = 'applied', applied_at = ${instantText(now)}, applied_by = ${by}
      where id = ${id} and state = 'open' returning id`,
  );

/** Notes who was the first to approve an open plan; false if it is applied already. */
export const saveApproval = (tx: Transaction, id: number, by: string, now: Date): Promise<boolean> =>
  hasRow(
    tx,
    sql`update plans set approved_at = coalesce(approved_at, ${instantText(now)}), approved_by = coalesce(approved_by, ${by})
      where id = ${id} and state = 'open' returning id`,
  );

export async function saveEntryOfRow(
  tx: Transaction,
  {
    planId,
    position,
    entryId,
  }: { readonly planId: number; readonly position: number; readonly entryId: number },
): Promise<void> {
  await tx.write(sql`
    update plan_rows set entry_id = ${entryId} where plan_id = ${planId} and position = ${position}`);
}
