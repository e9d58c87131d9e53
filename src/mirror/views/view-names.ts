import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { Dialect } from '../tables/kind-table.ts';
import type { Queryable } from '../session/session.ts';
import { viewsOf } from './views.ts';

/**
 * The names that our views of these kinds may have in a mirror, discovered arrays included; any other name is a user's own.
 */
export async function namesOfViews(
  db: Queryable,
  kinds: readonly Kind[],
  dialect: Dialect,
): Promise<ReadonlySet<string>> {
  const nested = await db.query(sql`select kind, field from fields where column_type = 'json'`);
  return new Set([
    ...viewsOf(kinds, dialect).map(({ name }) => name),
    ...nested
      .filter(({ kind }) => kinds.some(({ name }) => name === kind))
      .map(({ kind, field }) => `bi_${String(kind)}_${String(field)}`),
  ]);
}
