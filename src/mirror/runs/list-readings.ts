import { sql } from 'drizzle-orm';
import type { Queryable } from '../session/session.ts';
import { RUN_KINDS } from '../tables/engine-tables.ts';
import { select } from '../tables/rows.ts';
import type { RowOf } from '../tables/rows.ts';

/** One reading of a kind's list, by the run that it was part of. */
export type ReportedReading = RowOf<typeof RUN_KINDS>;

/** The latest readings of a kind's list, newest first. */
export async function latestReadings(db: Queryable, kind: string, limit: number): Promise<ReportedReading[]> {
  return select(db, RUN_KINDS, sql`where kind = ${kind} order by run_id desc limit ${limit}`);
}
