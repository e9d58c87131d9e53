import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Field, Kind } from '../../catalog/kind.ts';
import { decodeField, ownValue, recordDecoder } from '../../diff/decode-record.ts';
import { compactJson, isArray, isObject } from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { shortened } from '../../lib/text/text.ts';
import type { Row, SqlValue, Transaction } from '../session/session.ts';
import { twinValues, nestedColumns, nestedTables } from '../tables/kind-table.ts';
import type { Dialect, NestedTable } from '../tables/kind-table.ts';
import type { Issue } from './issue-store.ts';

/** One parameter, however many ids: the statement stays the same and need not be compiled again. */
export function idsIn({ dialect }: Transaction, ids: readonly string[]): SQL {
  const list = ids.join(',');
  return dialect === 'postgres'
    ? sql`(select unnest(${`{${list}}`}::bigint[]))`
    : sql`(select value from json_each(${`[${list}]`}))`;
}

/** A record with its arrays. */
interface ParentRecord {
  readonly id: string;
  readonly record: JsonObject;
}

interface ElementReader {
  /** Decodes the elements of one parent: a row for each, in the order of `nestedColumns`. */
  (parent: ParentRecord): SqlValue[][];
  /** Elements with fields that have no column yet. */
  readonly unknown: readonly JsonObject[];
}

/** @param found Gets the issues of the elements. */
export function elementReader(table: NestedTable, dialect: Dialect, found: Issue[]): ElementReader {
  const { array, own, items } = table;
  const decode = recordDecoder({ fields: items });
  const keepsValue = own.length > 2;
  const known = new Set([...own, ...items].map(({ name }) => name));
  const unknown: JsonObject[] = [];
  const rowOf = (id: string, position: number, element: Json): SqlValue[] => {
    const { values, misfits } = decode(isObject(element) ? element : {});
    for (const { field, ...misfit } of misfits)
      found.push({ recordId: id, field: `${array}[${position}].${field}`, ...misfit });
    const row: SqlValue[] = keepsValue ? [id, position, elementText(element)] : [id, position];
    for (const value of values) row.push(value);
    for (const twin of twinValues(items, dialect, values)) row.push(twin);
    return row;
  };
  const read = ({ id, record }: ParentRecord): SqlValue[][] => {
    const elements = ownValue(record, array);
    if (!isArray(elements)) return [];
    const rows: SqlValue[][] = [];
    for (const [position, element] of elements.entries()) {
      if (isObject(element) && Object.keys(element).some((name) => !known.has(name))) unknown.push(element);
      if (keepsValue || isObject(element)) rows.push(rowOf(id, position, element));
      else if (element !== null) found.push(noObject(id, `${array}[${position}]`, element));
    }
    return rows;
  };
  return Object.assign(read, { unknown });
}

const DETAIL_LENGTH = 200;

function noObject(recordId: string, field: string, element: Json): Issue {
  return { recordId, field, code: 'not_an_object', detail: shortened(compactJson(element), DETAIL_LENGTH) };
}

const ELEMENT: Field = { name: 'value', type: 'json' };
const SCALAR: Field = { name: 'value', type: 'text' };

/** An element as text: a string unchanged, any other value as JSON; null for a text that no database can store. */
function elementText(element: Json): SqlValue {
  return decodeField(typeof element === 'string' ? SCALAR : ELEMENT, element, () => undefined);
}

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
