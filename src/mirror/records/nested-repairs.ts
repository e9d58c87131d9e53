import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { writeMeta } from '../kinds/meta.ts';
import type { Queryable, Row, SqlValue, Transaction } from '../session/session.ts';
import { nestedColumns, nestedTables } from '../tables/kind-table.ts';
import type { NestedTable } from '../tables/kind-table.ts';
import { readTexts } from '../tables/rows.ts';
import { SUM_OF_WEIGHTS, addWeight, elementReader, idsIn, removeElements, weightIn } from './nested-rows.ts';
import type { ParentRecord } from './nested-rows.ts';

/**
 * Finds records whose nested tables hold something else than the decoding of their arrays: another program has written there.
 *
 * @returns The names of these arrays, by record.
 */
export async function findAlteredElements(
  tx: Transaction,
  kind: Kind,
  records: readonly ParentRecord[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const altered = new Map<string, string[]>();
  if (records.length === 0) return altered;
  for (const table of nestedTables(kind)) {
    const columns = nestedColumns(table, tx.dialect).map(({ name }) => name);
    const ids = records.map(({ id }) => id);
    const [read, held] = [
      elementReader(table, tx.dialect, []),
      await readElements(tx, table, { columns, ids }),
    ];
    for (const parent of records) {
      const [expected, rows] = [read(parent), held.get(parent.id) ?? []];
      const isSame =
        rows.length === expected.length &&
        rows.every((row, at) => isSameRow(columns, row, expected[at] ?? []));
      if (!isSame) altered.set(parent.id, [...(altered.get(parent.id) ?? []), table.array]);
    }
  }
  return altered;
}

/** The elements of these parents by parent, in the order of their positions. */
async function readElements(
  tx: Transaction,
  table: NestedTable,
  { columns, ids }: { readonly columns: readonly string[]; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, Row[]>> {
  const names = columns.map((name) => sql.identifier(name));
  const rows = await tx.query(sql`
    select ${sql.join(names, sql`, `)} from ${sql.identifier(table.name)}
    where parent_id in ${idsIn(tx, ids)} order by parent_id, position`);
  const byParent = new Map<string, Row[]>();
  for (const row of rows) {
    const parent = String(row['parent_id']);
    const own = byParent.get(parent);
    if (own === undefined) byParent.set(parent, [row]);
    else own.push(row);
  }
  return byParent;
}

const isSameRow = (columns: readonly string[], row: Row, expected: readonly SqlValue[]): boolean =>
  columns.every((name, at) => valueText(row[name]) === valueText(expected[at]));

/** A value as text: a database may give a number back as text, or a text as a number. */
export const valueText = (value: SqlValue | undefined): string | null =>
  value === null || value === undefined ? null : String(value);

/**
 * Removes elements whose parents' rows are gone by another program's hand, before a reading without a baseline: it would
 * take these records for new ones. With a baseline, the event log tells them from new ones.
 */
export async function removeOrphans(tx: Transaction, kind: Kind): Promise<void> {
  for (const { name } of nestedTables(kind))
    await addWeight(tx, name, -(await removeElements(tx, name, orphansOf(kind, name))));
}

const orphansOf = (kind: Kind, table: string): SQL => sql`not exists (
  select 1 from ${sql.identifier(kind.name)} p where p.id = ${sql.identifier(table)}.parent_id)`;

/** The nested tables to which another program has added elements, or from which it has removed some. */
export async function touchedTables(db: Queryable, kind: Kind): Promise<readonly NestedTable[]> {
  const touched: NestedTable[] = [];
  for (const table of nestedTables(kind)) {
    const apart = sql`
      select coalesce((select ${SUM_OF_WEIGHTS} from ${sql.identifier(table.name)}), 0)
        - coalesce((select cast(value as bigint) from mirror_meta where key = ${`nested.${table.name}`}), 0)`;
    if (Number((await readTexts(db, apart))[0]) !== 0) touched.push(table);
  }
  return touched;
}

/**
 * Ends the repair of tables that another program had written to, once all rows of the kind were compared: removes elements
 * whose parents have no row, and notes what the tables weigh now.
 *
 * @returns The ids of these parents.
 */
export async function removeStrayElements(
  tx: Transaction,
  kind: Kind,
  tables: readonly NestedTable[],
): Promise<readonly string[]> {
  const parents = new Set<string>();
  for (const { name } of tables) {
    const orphans = orphansOf(kind, name);
    const ids = sql`select distinct cast(parent_id as text) from ${sql.identifier(name)} where ${orphans}`;
    for (const id of await readTexts(tx, ids)) parents.add(id);
    await removeElements(tx, name, orphans);
    await writeMeta(tx, `nested.${name}`, String(await weightIn(tx, name, sql`1 = 1`)));
  }
  return [...parents];
}
