import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { Queryable } from '../../db/session/session.ts';
import { nestedColumns, nestedTables } from '../../store/tables/kind-table.ts';
import {
  createElementDecoder,
  idsIn,
  type ParentRecord,
  type WithDialect,
} from '../../store/records/nested-rows.ts';
import { valueText, type Difference } from './compare-record.ts';

/** Yields the nested tables in which a record has other elements than its array, each with all elements as JSON. */
export async function* compareElements(
  db: Queryable & WithDialect,
  kind: Kind,
  records: readonly ParentRecord[],
  keepsSearch = true,
): AsyncGenerator<Difference & { readonly id: string }> {
  for (const table of nestedTables(kind)) {
    const { read } = createElementDecoder(table, db.dialect, [], keepsSearch);
    const columns = nestedColumns(table, db.dialect, keepsSearch).map((column) => column.name);
    const names = columns.map((name) => sql.identifier(name));
    const ids = records.map((record) => record.id);
    const rows = await db.query(sql`
      select ${sql.join(names, sql`, `)} from ${sql.identifier(table.name)}
      where parent_id in ${idsIn(db, ids)} order by parent_id, position`);
    const held = Map.groupBy(rows, (row) => String(row['parent_id']));
    for (const parent of records) {
      const rowsOfParent = held.get(parent.id) ?? [];
      const service = JSON.stringify(read(parent).map((values) => values.map(valueText)));
      const mirror = JSON.stringify(rowsOfParent.map((row) => columns.map((name) => valueText(row[name]))));
      if (service !== mirror) yield { id: parent.id, field: table.name, service, mirror };
    }
  }
}
