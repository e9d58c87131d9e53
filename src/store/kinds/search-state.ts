import { sql } from 'drizzle-orm';
import { isListed, type Kind } from '../../catalog/kind.ts';
import { hasRow } from '../../db/rows/rows.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { searchTables } from '../tables/kind-table.ts';
import { readMeta } from './meta.ts';

/**
 * Whether the rows of a kind are written with their search texts. A first load leaves them out; from the beginning of the filling
 * on, which rows without one are left to, every transaction writes them. A kind without a list has no first load.
 */
export const keepsSearchText = async (tx: Transaction, kind: Kind): Promise<boolean> =>
  !isListed(kind) || (await readMeta(tx, `search.${kind.name}`)) !== null;

/** Whether a search of a kind finds every record that the mirror holds; also true of a kind that was never read. */
export async function isSearchPrepared(db: Queryable, kind: Kind): Promise<boolean> {
  if (!isListed(kind) || searchTables(kind).length === 0) return true;
  if ((await readMeta(db, `search.${kind.name}`)) === 'ready') return true;
  const read = sql`select 1 from kind_state where kind = ${kind.name}`;
  return (
    !(await hasRow(db, read)) && !(await hasRow(db, sql`select 1 from ${sql.identifier(kind.name)} limit 1`))
  );
}
