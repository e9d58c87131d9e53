import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql, type SQL } from 'drizzle-orm';
import type { Field, Kind, Shape } from '../../catalog/kind.ts';
import { decodeField, ownValue, createRecordDecoder } from '../../diff/decode-record.ts';
import type { RecordChange } from '../../diff/compare-page.ts';
import { observeFields } from '../../diff/observe-fields.ts';
import {
  compactJson,
  isNumber,
  isObject,
  arrayItems,
  type Json,
  type JsonObject,
} from '../../lib/json/json.ts';
import { truncate } from '../../lib/text/text.ts';
import { readFields, saveFields } from '../kinds/field-store.ts';
import type { Queryable, SqlValue, Transaction } from '../../db/session/session.ts';
import {
  elementShape,
  nestedColumns,
  nestedTables,
  derivedValues,
  type Dialect,
  type NestedTable,
} from '../tables/kind-table.ts';
import { searchTexts } from '../tables/search-text.ts';
import type { Issue } from './issue-store.ts';

/** A record with its arrays. */
export interface ParentRecord {
  readonly id: string;
  readonly record: JsonObject;
}

/** A record whose row is written. */
interface NestedParent extends ParentRecord {
  /** How the record differs from its row; without it, all its arrays are written. */
  readonly change?: RecordChange;
}

/** Rows written before the next turn of the event loop: an array may be as long as a body. */
const ROWS_AT_ONCE = 2_000;

/**
 * Writes the elements of these records' nested arrays in place of those of their former content. Costs nothing for a kind
 * without nested arrays. An array whose spelling has not changed is decoded for its issues, which `found` gets, and not written.
 */
export async function writeNestedRows(
  tx: Transaction,
  { kind, records, found, now }: { kind: Kind; records: readonly NestedParent[]; found: Issue[]; now: Date },
): Promise<void> {
  for (const table of nestedTables(kind)) {
    const { read, unknown } = createElementDecoder(table, tx.dialect, found);
    const rewrittenParents: string[] = [];
    const rows: SqlValue[][] = [];
    for (const parent of records) {
      const elements = read(parent);
      if (!hasChanged(parent, table.array)) continue;
      if (parent.change?.is !== 'created') rewrittenParents.push(parent.id);
      for (const element of elements) rows.push(element);
    }
    if (rewrittenParents.length > 0)
      await tx.write(
        sql`delete from ${sql.identifier(table.name)} where parent_id in ${idsIn(tx, rewrittenParents)}`,
      );
    const columns = nestedColumns(table, tx.dialect).map((column) => column.name);
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      if (from > 0) await yieldToEventLoop();
      await tx.insertRows({ table: table.name, columns, rows: rows.slice(from, from + ROWS_AT_ONCE) });
    }
    const element = { ...elementShape(kind, table), fields: storedFields(table) };
    if (unknown.length > 0) await observeElements(tx, element, unknown, now);
  }
}

/** False only for an array that both readings of a record spell alike: `_raw` and the rows must have one spelling. */
function hasChanged(parent: NestedParent, array: string): boolean {
  const { record, change } = parent;
  if (change?.is !== 'changed' || change.fields.includes(array)) return true;
  const before = ownValue(change.before, array);
  const after = ownValue(record, array);
  return before === undefined || after === undefined || compactJson(before) !== compactJson(after);
}

/** Notes fields of elements that have no column yet; they get it at the end of the sweep. */
async function observeElements(tx: Transaction, element: Shape, records: readonly JsonObject[], now: Date) {
  const known = await readFields(tx, element.name);
  const { fields } = observeFields(element, known, records);
  for (const { name } of element.fields) fields.delete(name);
  await saveFields(tx, element, fields, now);
}

/**
 * The fields of elements whose values are kept. One that has the name of an engine column gets no column: it is reported,
 * unless the whole element is kept.
 */
function storedFields({ own: placeFields, items }: NestedTable): readonly Field[] {
  return hasValueColumn(placeFields) ? [...placeFields, ...items] : items;
}

const hasValueColumn = (placeFields: NestedTable['own']): boolean => placeFields.length > 2;

/**
 * Makes a decoder of the elements of one parent: `read` makes a row for each, in the order of `nestedColumns`. `unknown` are the elements
 * with fields that have no column yet.
 * @param found Gets the issues of the elements.
 */
export function createElementDecoder(table: NestedTable, dialect: Dialect, found: Issue[]) {
  const { array, own: placeFields, items } = table;
  const decode = createRecordDecoder({ fields: items });
  const isWhole = hasValueColumn(placeFields);
  const known = new Set(storedFields(table).map(({ name }) => name));
  const unknown: JsonObject[] = [];
  const rowOf = (id: string, position: number, element: Json): SqlValue[] => {
    const { values, misfits } = decode(isObject(element) ? element : {});
    for (const { field, ...misfit } of misfits)
      found.push({ recordId: id, field: `${array}[${position}].${field}`, ...misfit });
    const row: SqlValue[] = [id, position];
    // A string unchanged, any other value as JSON; null for a text that no database can store.
    const whole: Field = { name: 'value', type: typeof element === 'string' ? 'text' : 'json' };
    if (isWhole) row.push(decodeField(whole, element, () => undefined));
    for (const value of values) row.push(value);
    for (const derivedValue of derivedValues(items, dialect, values)) row.push(derivedValue);
    row.push(...searchTexts(items, values));
    return row;
  };
  const read = (parentRecord: ParentRecord): SqlValue[][] => {
    const { id, record } = parentRecord;
    const sent = sentElements(record, table);
    const elements = elementsOf(sent);
    if (elements === null) {
      if (!isWhole && sent !== null && sent !== '') found.push(issueOf(id, array, 'not_an_array', sent));
      return [];
    }
    const rows: SqlValue[][] = [];
    for (const [position, element] of elements.entries()) {
      if (isObject(element) && Object.keys(element).some((name) => !known.has(name))) unknown.push(element);
      if (isWhole || isObject(element)) rows.push(rowOf(id, position, element));
      else if (element !== null) found.push(issueOf(id, `${array}[${position}]`, 'not_an_object', element));
    }
    return rows;
  };
  return { read, unknown };
}

/** The elements of an array, of PHP's object for one, or one element alone; null where there are none. */
const elementsOf = (sent: Json): readonly Json[] | null =>
  arrayItems(sent) ?? (isObject(sent) && 'id' in sent ? [sent] : null);

/** The array as sent, or the parts of a text as objects, so that they are decoded like the elements of an array. */
function sentElements(record: JsonObject, table: NestedTable): Json {
  const { array, part } = table;
  const sent = ownValue(record, array) ?? null;
  if (part === undefined) return sent;
  if (typeof sent !== 'string' && !isNumber(sent)) return []; // The column of the text has the issue.
  const parts = String(sent)
    .split(',')
    .map((text) => text.trim());
  return parts.filter((text) => text !== '').map((text) => ({ [part.name]: text }));
}

const DETAIL_LENGTH = 200;

function issueOf(recordId: string, field: string, code: string, value: Json): Issue {
  return { recordId, field, code, detail: truncate(compactJson(value), DETAIL_LENGTH) };
}

/** One parameter, however many ids: the statement stays the same and need not be compiled again. */
export function idsIn({ dialect }: Queryable, ids: readonly string[]): SQL {
  const list = ids.join(',');
  return dialect === 'postgres'
    ? sql`(select unnest(${`{${list}}`}::bigint[]))`
    : sql`(select value from json_each(${`[${list}]`}))`;
}
