import { sql } from 'drizzle-orm';
import { formatInstant } from '../../lib/time/clock.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { DRIFT } from '../tables/engine-tables.ts';
import { hasRow, insertRows, omitColumns, select } from '../../db/rows/rows.ts';

/** One change in how the service answers. */
export type Drift = Omit<typeof DRIFT.$inferSelect, 'id' | 'seenAt'>;

export async function saveDrift(tx: Transaction, drifts: readonly Drift[], now: Date): Promise<void> {
  const seenAt = formatInstant(now);
  const rows = drifts.map((drift) => ({ ...drift, seenAt }));
  await insertRows(tx, DRIFT, rows);
}

/** Whether an equal note of drift exists already. */
export async function hasDrift(db: Queryable, drift: Omit<Drift, 'detail'>): Promise<boolean> {
  return hasRow(
    db,
    sql`select 1 from drift where kind = ${drift.kind} and code = ${drift.code} and coalesce(field, '') = ${drift.field ?? ''} limit 1`,
  );
}

/** The latest changes, newest first. */
export const readDrift = (db: Queryable, limit: number): Promise<(Drift & { readonly seenAt: string })[]> =>
  select(db, omitColumns(DRIFT, 'id'), sql`order by id desc limit ${limit}`);

/** Changes that were seen at an instant or later, oldest first. */
export async function driftSince(db: Queryable, since: Date): Promise<Drift[]> {
  return select(
    db,
    omitColumns(DRIFT, 'id', 'seenAt'),
    sql`where seen_at >= ${formatInstant(since)} order by id`,
  );
}
