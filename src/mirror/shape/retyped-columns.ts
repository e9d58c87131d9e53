import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { kindColumns } from '../tables/kind-table.ts';
import { placeOf } from '../postgres/schemas.ts';
import type { Queryable } from '../session/session.ts';

/**
 * The columns of kind tables in PostgreSQL whose type a migration changes, as keys `RELATION.COLUMN`: those that this release
 * declares with another type, and an older release's discovered integers that were sent as texts.
 */
export async function retypedColumns(
  db: Queryable,
  kinds: readonly Kind[],
  isOlder: boolean,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const kind of kinds) {
    const declared = kindColumns(kind, 'postgres').map(
      ({ name, type }) => sql`(${name}, ${type}::text::regtype)`,
    );
    const rows = await db.query(sql`
      select 'pg_class'::regclass::oid || ':' || attrelid || '.' || attnum as column
      from pg_attribute
      left join fields on kind = ${kind.name} and field = attname and column_type is not null
      left join (values ${sql.join(declared, sql`, `)}) w(name, type) on name = attname
      where attrelid = to_regclass(${placeOf(kind.name)}) and attnum > 0 and not attisdropped
        and case when column_type is null then atttypid <> w.type
          else ${isOlder ? 1 : 0} = 1 and column_type = 'integer' and wire like '%text%' end`);
    for (const { column } of rows) found.add(String(column));
  }
  return found;
}
