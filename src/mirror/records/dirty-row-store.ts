import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/**
 * Dirty rows: rows rewritten since their page was landed, by the tick of the response that their present content or state is
 * from.
 *
 * Every write to an existing row is noted here: a page that lists the row must be parsed even if its digest is unchanged.
 */
export type DirtyRows = ReadonlyMap<string, number>;

export async function readDirtyRows(
  db: Queryable,
  kind: string,
  after: number,
): Promise<Map<string, number>> {
  const rows = await db.query(sql`
    select record_id, response from touched where kind = ${kind} and response > ${after} order by response`);
  return new Map(rows.map((row) => [String(row['record_id']), Number(row['response'])]));
}

export async function saveDirtyRows(
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

/** Raises `_response` of rows when a later response has shown the same content. */
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
