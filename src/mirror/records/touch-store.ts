import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/**
 * Rows that were written again, by the tick of the response that they have their present content or state from.
 *
 * Whoever writes a row that is there already says so here: a page that lists it must be parsed, whatever its digest says.
 */
export type Touches = ReadonlyMap<string, number>;

export async function readTouches(db: Queryable, kind: string, after: number): Promise<Map<string, number>> {
  const rows = await db.query(sql`
    select record_id, response from touched where kind = ${kind} and response > ${after} order by response`);
  return new Map(rows.map((row) => [String(row['record_id']), Number(row['response'])]));
}

export async function saveTouches(
  tx: Transaction,
  kind: string,
  { ids, response }: { readonly ids: readonly string[]; readonly response: number },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.append({
    table: 'touched',
    columns: ['kind', 'response', 'record_id'],
    rows: ids.map((id) => [kind, response, id]),
  });
}

/** Raises the response that rows have their content from, where a later one has shown the same. */
export async function confirmRows(
  tx: Transaction,
  kind: string,
  { ids, response }: { readonly ids: readonly string[]; readonly response: number },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    sql`update ${sql.identifier(kind)} set _response = ${response} where id in (${sqlList(ids)})`,
  );
}
