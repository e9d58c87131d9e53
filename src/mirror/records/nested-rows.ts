import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Field, Kind } from '../../catalog/kind.ts';
import { decodeField, ownValue, recordDecoder } from '../../diff/decode-record.ts';
import type { RecordChange } from '../../diff/judge-page.ts';
import { boundFields, observeFields } from '../../diff/observe-fields.ts';
import { compactJson, isArray, isObject } from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { shortened } from '../../lib/text/text.ts';
import { readFields, saveFields } from '../kinds/field-store.ts';
import type { SqlValue, Transaction } from '../session/session.ts';
import { twinValues } from '../tables/kind-table.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { elementKind, nestedColumns, nestedTables } from '../tables/nested-table.ts';
import type { NestedTable } from '../tables/nested-table.ts';
import type { Issue } from './issue-store.ts';

/** A record whose row is written. */
interface NestedParent {
  readonly id: string;
  readonly record: JsonObject;
  /** How the record differs from its row; without it, all its arrays are written. */
  readonly verdict?: RecordChange;
  /** Another program had altered the row. */
  readonly repair?: string;
  /** The record is new, and a row that another program inserted has its id. */
  readonly replacesRow?: true;
}

interface ParentRows {
  readonly kind: Kind;
  readonly records: readonly NestedParent[];
  /** Gets the issues of the elements. */
  readonly found: Issue[];
  readonly now: Date;
}

/** Rows written before the next turn of the event loop: an array may be as long as a body. */
const ROWS_AT_ONCE = 2_000;

/**
 * Writes the elements of these records' nested arrays in place of those of their former content. Costs nothing for a kind
 * without nested arrays.
 *
 * An array that has not changed is decoded for its issues and not written.
 */
export async function putNestedRows(
  tx: Transaction,
  { kind, records, found, now }: ParentRows,
): Promise<void> {
  for (const table of nestedTables(kind)) {
    const read = elementReader(table, tx.dialect, found);
    const [former, rows]: [string[], SqlValue[][]] = [[], []];
    for (const parent of records) {
      const elements = read(parent);
      if (!hasChanged(parent, table.array)) continue;
      if (mayHaveElements(parent)) former.push(parent.id);
      for (const element of elements) rows.push(element);
    }
    await removeNested(tx, table.name, former);
    const columns = nestedColumns(table, tx.dialect).map(({ name }) => name);
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      if (from > 0) await yieldToEventLoop();
      await tx.append({ table: table.name, columns, rows: rows.slice(from, from + ROWS_AT_ONCE) });
    }
    await observeElements(tx, kind, { table, records: read.unknown, now });
  }
}

/** A record without a row has none: `removeOrphans` has seen to it. */
const mayHaveElements = ({ verdict, repair, replacesRow }: NestedParent): boolean =>
  verdict?.is !== 'created' || repair !== undefined || replacesRow !== undefined;

/**
 * Removes elements whose parents' rows are gone by another program's hand, before a reading without a baseline: it would
 * take these records for new ones. With a baseline, the event log tells them from new ones.
 */
export async function removeOrphans(tx: Transaction, kind: Kind): Promise<void> {
  for (const { name } of nestedTables(kind))
    await tx.write(sql`
      delete from ${sql.identifier(name)} where not exists (
        select 1 from ${sql.identifier(kind.name)} p where p.id = ${sql.identifier(name)}.parent_id)`);
}

/** Removes the elements of these parents. */
async function removeNested(tx: Transaction, table: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await tx.write(sql`delete from ${sql.identifier(table)} where parent_id in ${idsIn(tx, ids)}`);
}

/** One parameter, however many ids: the statement stays the same and need not be compiled again. */
function idsIn({ dialect }: Transaction, ids: readonly string[]): SQL {
  const list = ids.join(',');
  return dialect === 'postgres'
    ? sql`(select unnest(${`{${list}}`}::bigint[]))`
    : sql`(select value from json_each(${`[${list}]`}))`;
}

/** False only for an array that both readings of a record have, and that is equal in them. */
function hasChanged({ record, verdict, repair }: NestedParent, array: string): boolean {
  if (verdict?.is !== 'changed' || repair !== undefined || verdict.fields.includes(array)) return true;
  return !Object.hasOwn(verdict.before, array) || !Object.hasOwn(record, array);
}

interface ElementReader {
  /** Decodes the elements of one parent: a row for each, in the order of `nestedColumns`. */
  (parent: NestedParent): SqlValue[][];
  /** Elements with fields that have no column yet. */
  readonly unknown: readonly JsonObject[];
}

function elementReader(table: NestedTable, dialect: Dialect, found: Issue[]): ElementReader {
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
  const read = ({ id, record }: NestedParent): SqlValue[][] => {
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

interface Elements {
  readonly table: NestedTable;
  readonly records: readonly JsonObject[];
  readonly now: Date;
}

/** Notes fields of elements that have no column yet; they get it at the end of the sweep. */
async function observeElements(
  tx: Transaction,
  kind: Kind,
  { table, records, now }: Elements,
): Promise<void> {
  if (records.length === 0) return;
  const element = elementKind(kind, table);
  const known = await readFields(tx, table.name);
  const fields = observeFields(element, known, boundFields(element, known, records).records);
  for (const { name } of element.fields) fields.delete(name);
  await saveFields(tx, element, { fields, now });
}
