import { sql } from 'drizzle-orm';
import type { Kind } from '../catalog/kind.ts';
import { kindColumns } from './kind-table.ts';
import { placeOf } from './schemas.ts';
import type { Queryable } from './session.ts';

/** The columns of kind tables in PostgreSQL that have another type than this release gives them: `RELATION.COLUMN`, as keys. */
export async function retypedColumns(db: Queryable, kinds: readonly Kind[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const kind of kinds) {
    const declared = kindColumns(kind, 'postgres').map(
      ({ name, type }) => sql`(${name}, ${type}::text::regtype)`,
    );
    const rows = await db.query(sql`
      select 'pg_class'::regclass::oid || ':' || attrelid || '.' || attnum as column
      from pg_attribute join (values ${sql.join(declared, sql`, `)}) w(name, type) on name = attname
      where attrelid = to_regclass(${placeOf(kind.name)}) and atttypid <> type and not exists (
        select from fields where kind = ${kind.name} and field = attname and column_type is not null)`);
    for (const { column } of rows) found.add(String(column));
  }
  return found;
}
