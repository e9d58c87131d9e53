import { integer, json } from '../../catalog/field.ts';
import type { Field, Kind } from '../../catalog/kind.ts';
import { fieldColumn, twinColumns } from './kind-table.ts';
import type { Column, Dialect } from './kind-table.ts';

/** The table of the elements of a kind's nested array: one row an element, written with the parent's row. */
export interface NestedTable {
  /** `clients_contacts`; its view is `bi_clients_contacts`. */
  readonly name: string;
  readonly kind: string;
  /** The field that holds the array. */
  readonly array: string;
  /** The columns that the array's place gives: the parent's id, the position from 0, the element where it is kept. */
  readonly own: readonly Field[];
  /** Fields of the elements: documented ones, then discovered ones in order of first sight. */
  readonly items: readonly Field[];
}

/** The name of the table of a nested array. */
export const nestedName = (kind: string, array: string): string => `${kind}_${array}`;

const PARENT = integer('parent_id');
const POSITION = integer('position');
/** An element of an array without documented fields: a scalar as text, any other value as JSON. */
const VALUE = json('value');

/**
 * The tables of a kind's nested arrays, in the order of its fields.
 *
 * Arrays that were seen in the wild have theirs before the service sends them, so that analysts' queries can rely on it.
 */
export function nestedTables({ name: kind, fields, hints }: Kind): readonly NestedTable[] {
  const known = new Set(fields.map(({ name }) => name));
  const arrays = [...fields, ...hints.filter(({ name }) => !known.has(name))].filter(isArrayField);
  return arrays.map(({ name: array, items, foundItems = [] }) => ({
    ...{ name: nestedName(kind, array), kind, array },
    own: items === undefined ? [PARENT, POSITION, VALUE] : [PARENT, POSITION],
    items: [...(items ?? []), ...foundItems],
  }));
}

/** Whether a field may hold an array of its own table. */
export const isArrayField = ({ type, isObject }: Field): boolean => type === 'json' && isObject !== true;

/** The table as a kind whose records are the elements: its fields are tracked and discovered like those of records. */
export function elementKind(kind: Kind, { name, own, items }: NestedTable): Kind {
  return { ...kind, name, fields: [...own, ...items], hints: [] };
}

/** The columns of a nested table, in their order. */
export function nestedColumns({ own, items }: NestedTable, dialect: Dialect): readonly Column[] {
  return [
    ...own.map((field) => ({
      ...fieldColumn(field, dialect),
      ...(field !== VALUE && { rule: 'NOT NULL' }),
    })),
    ...items.map((field) => fieldColumn(field, dialect)),
    ...twinColumns(items, dialect),
  ];
}
