import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { Queryable, SqlValue } from '../../db/session/session.ts';
import { nestedColumns, nestedTables, type NestedTable } from '../../store/tables/kind-table.ts';
import {
  createElementDecoder,
  idsIn,
  type ParentRecord,
  type WithDialect,
} from '../../store/records/nested-rows.ts';

/** A record's elements in one nested table, which differ from the decoding of its array. */
interface AlteredElements {
  readonly table: NestedTable;
  /** Rows of `nestedColumns`, as texts. */
  readonly expected: readonly (readonly (string | null)[])[];
  readonly held: readonly (readonly (string | null)[])[];
}

/**
 * Finds records whose nested tables differ from the decoding of their arrays: another program has written there.
 * @returns The differing elements, by record.
 */
export async function findAlteredElements(
  db: Queryable & WithDialect,
  kind: Kind,
  records: readonly ParentRecord[],
  keepsSearch = true,
): Promise<ReadonlyMap<string, readonly AlteredElements[]>> {
  const altered = new Map<string, AlteredElements[]>();
  if (records.length === 0) return altered;
  const ids = records.map((record) => record.id);
  for (const table of nestedTables(kind)) {
    const { read } = createElementDecoder(table, db.dialect, [], keepsSearch);
    const columns = nestedColumns(table, db.dialect, keepsSearch).map((column) => column.name);
    const elements = await readElements(db, table, columns, ids);
    for (const parent of records) {
      const expected = read(parent).map((row) => row.map(valueText));
      const held = elements.get(parent.id) ?? [];
      if (JSON.stringify(expected) === JSON.stringify(held)) continue;
      altered.set(parent.id, [...(altered.get(parent.id) ?? []), { table, expected, held }]);
    }
  }
  return altered;
}

/** The elements of these parents by parent, in the order of their positions; each value as text. */
async function readElements(
  db: Queryable & WithDialect,
  table: NestedTable,
  columns: readonly string[],
  ids: readonly string[],
) {
  const names = columns.map((name) => sql.identifier(name));
  const rows = await db.query(sql`
    select ${sql.join(names, sql`, `)} from ${sql.identifier(table.name)}
    where parent_id in ${idsIn(db, ids)} order by parent_id, position`);
  const byParent = new Map<string, (readonly (string | null)[])[]>();
  for (const [parent, elements] of Map.groupBy(rows, (row) => String(row['parent_id'])))
    byParent.set(
      parent,
      elements.map((row) => columns.map((name) => valueText(row[name]))),
    );
  return byParent;
}

/** A value as text: a database may give a number back as text, or a text as a number. */
export const valueText = (value: SqlValue | undefined): string | null =>
  value === null || value === undefined ? null : String(value);
