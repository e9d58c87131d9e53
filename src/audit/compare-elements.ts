import { compactJson, isArray, isObject, tryParse } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import type { Row } from '../mirror/session/session.ts';
import type { NestedTable } from '../mirror/tables/kind-table.ts';
import { compareColumns, holdsJson } from './compare-record.ts';
import type { Difference } from './compare-record.ts';
import { isSameJson, ownMember, readValue } from './read-value.ts';

interface HeldArray {
  /** The record's row. */
  readonly row: Row | undefined;
  /** The rows of its elements. */
  readonly rows: readonly Row[];
}

/**
 * Compares a record's nested array with the rows of its table, element by element. Fields are named as in issues:
 * `contacts[0].email`, or `contacts[0]` where a whole row is missing or is too much.
 *
 * If `_raw` has the same array in another spelling, the rows are compared with that one: they were filled from it.
 */
export function compareElements(
  table: NestedTable,
  record: JsonObject,
  { row: parent, rows }: HeldArray,
): readonly Difference[] {
  const elements = elementsOf(table, asHeld(table, record, parent));
  const left = new Map<number, Row>();
  const differences: Difference[] = [];
  for (const row of rows) {
    const position = Number(row['position']);
    if (elements.has(position) && !left.has(position)) left.set(position, row);
    else differences.push({ field: placeOf(table, position), service: null, mirror: textOf(row) });
  }
  for (const [position, element] of elements) {
    const [row, place] = [left.get(position), placeOf(table, position)];
    if (row === undefined) differences.push({ field: place, service: compactJson(element), mirror: null });
    else differences.push(...compareElement(table, element, row).map(within(place)));
  }
  return differences;
}

const placeOf = ({ array }: NestedTable, position: number): string => `${array}[${position}]`;

const within =
  (place: string) =>
  ({ field, ...values }: Difference): Difference => ({
    field: field === VALUE ? place : `${place}.${field}`,
    ...values,
  });

const VALUE = 'value';

/** An array without documented elements has a row for each, with the element itself; others have rows of objects only. */
const keepsValue = ({ own }: NestedTable): boolean => own.some(({ name }) => name === VALUE);

function asHeld({ array }: NestedTable, record: JsonObject, row: Row | undefined): JsonObject {
  const held = tryParse(String(row?.['_raw']));
  const [service, mirror] = [ownMember(record, array), isObject(held) ? ownMember(held, array) : undefined];
  const isSame = service !== undefined && mirror !== undefined && isSameJson(service, mirror);
  return isSame && isObject(held) ? held : record;
}

/** The elements that must have a row, by position. */
function elementsOf(table: NestedTable, record: JsonObject): ReadonlyMap<number, Json> {
  const array = ownMember(record, table.array);
  const all = isArray(array) ? [...array.entries()] : [];
  return new Map(all.filter(([, element]) => keepsValue(table) || isObject(element)));
}

function compareElement(table: NestedTable, element: Json, row: Row): Difference[] {
  const fields = compareColumns(table.items, isObject(element) ? element : {}, row);
  if (!keepsValue(table)) return fields;
  const mirror = row[VALUE] === null || row[VALUE] === undefined ? null : String(row[VALUE]);
  if (holdsValue(element, mirror)) return fields;
  return [
    { field: VALUE, service: typeof element === 'string' ? element : compactJson(element), mirror },
    ...fields,
  ];
}

/** A string is kept as it is, any other value as JSON; null and what no database can store are null. */
function holdsValue(element: Json, column: string | null): boolean {
  const isText = typeof element === 'string';
  if (element === null || !readValue(isText ? 'text' : 'json', element).fits) return column === null;
  if (isText || column === null) return element === column;
  return holdsJson(element, column);
}

const textOf = (row: Row): string => JSON.stringify(row);
