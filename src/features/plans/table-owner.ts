import { sql } from 'drizzle-orm';
import { NOT_SHOWN } from '../../catalog/exclude.ts';
import type { Kind } from '../../catalog/kind.ts';
import { assignments, pickColumns, select } from '../../db/rows/rows.ts';
import type { Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { daysBefore } from '../../lib/time/zone-offset.ts';
import { withoutNames } from '../../store/outbox/excluded-entries.ts';
import { eraseTexts } from '../../store/records/erasure-store.ts';
import { isWithoutRow } from '../../store/records/record-traces.ts';
import type { ErasedRecord, TableOwner } from '../../store/records/table-owner.ts';
import { deletePlans } from './store.ts';
import { PLANS, PLAN_ROWS } from './tables.ts';

/**
 * Takes a kind's excluded fields out of its plans: an applied plan keeps its other cells, which can be undone; an open one with such
 * a field goes, because it would no longer be what was shown. A refusal of a cell quotes its value, as
 * the reason of a rejection may.
 */
async function removeFromPlans(tx: Transaction, kind: Kind): Promise<void> {
  const tests = (kind.excluded ?? []).map(
    ({ name }) => sql`cells like ${`%"field":"${name}"%`} or refusal like ${`%${name}%`}`,
  );
  const mentions = sql`(${sql.join(tests, sql` or `)})`;
  const open = sql`
    where kind = ${kind.name} and state = 'open' and id in (select plan_id from plan_rows where ${mentions})`;
  for (const { id } of await select(tx, pickColumns(PLANS, 'id'), open))
    await deletePlans(tx, sql`id = ${id}`);
  for (const { name } of kind.excluded ?? [])
    await tx.write(
      sql`update plans set reason = ${NOT_SHOWN} where kind = ${kind.name} and reason like ${`%${name}%`}`,
    );
  const ofKind = sql`where plan_id in (select id from plans where kind = ${kind.name}) and ${mentions}`;
  for (const { planId, position, cells, refusal } of await select(tx, PLAN_ROWS, ofKind)) {
    const left = { cells: withoutNames(kind, cells) ?? '[]', refusal: refusal && NOT_SHOWN };
    const set = assignments(PLAN_ROWS, left);
    await tx.query(sql`update plan_rows set ${set} where plan_id = ${planId} and position = ${position}`);
  }
}

/** Without one of its rows an open plan can no longer be applied. */
async function erasePlans(tx: Transaction, record: ErasedRecord): Promise<void> {
  const { kind, id, hasContent } = record;
  const entries = record.entries.map((entry) => entry.id);
  const keys = sql`select idempotency_key from outbox where id in (${sqlList(entries)})`;
  const made = entries.length === 0 ? sql`` : sql`or 'plan:' || plan_id || ':' || position in (${keys})`;
  const ofKind = sql`plan_id in (select id from plans where kind = ${kind})`;
  await tx.query(sql`delete from plan_rows where (record_id = ${id} and ${ofKind}) ${made}`);
  const unnamed = await select(tx, PLAN_ROWS, sql`where ${ofKind} and ${isWithoutRow(kind)}`);
  for (const { planId, position, cells, refusal } of unnamed)
    if (await hasContent(`${cells} ${refusal ?? ''}`))
      await tx.query(sql`delete from plan_rows where plan_id = ${planId} and position = ${position}`);
  await eraseTexts(tx, hasContent, [
    { table: 'plans', name: 'origin', where: sql`kind = ${kind}` },
    { table: 'plans', name: 'reason', where: sql`kind = ${kind}` },
  ]);
}

/** Plans are kept as long as the entries of the outbox. */
export const planTables: TableOwner = {
  prune: async (tx, { outboxDays }, now) => {
    if (outboxDays === null) return;
    await deletePlans(tx, sql`created_at < ${formatInstant(daysBefore(now, outboxDays))}`);
  },
  exclude: removeFromPlans,
  erase: erasePlans,
};
