import { hash } from 'node:crypto';
import { integerField, jsonField } from '../../catalog/field.ts';
import {
  columnType,
  idColumnName,
  type Field,
  type FieldType,
  type Kind,
  type Shape,
} from '../../catalog/kind.ts';
import { decodeIfFits, ownValue } from '../../diff/decode-record.ts';
import { decimalPlaces } from '../../lib/json/decimal.ts';
import { isObject, tryParseJson } from '../../lib/json/json.ts';
import type { Session, SqlValue } from '../../db/session/session.ts';
import { KEY_COLUMN, keyWriter, keyedFields } from './key-column.ts';
import { SEARCH_COLUMN, isSearchField, searchTexts } from './search-text.ts';

export type Dialect = Session['dialect'];

export interface Column {
  readonly name: string;
  /** The declared type, which BI clients rely on. */
  readonly type: string;
  /** The rest of the definition: a constraint. */
  readonly rule?: string;
}

const TYPES: Record<Dialect, Record<FieldType | 'instant', string>> = {
  sqlite: {
    integer: 'BIGINT', // Over ODBC, INTEGER is 32-bit.
    flag: 'INTEGER',
    decimal: 'TEXT',
    date: 'DATE',
    time: 'TEXT', // DuckDB cannot read the type TIME of a SQLite file.
    timestamp: 'TIMESTAMP',
    text: 'TEXT',
    json: 'TEXT',
    instant: 'TIMESTAMP',
  },
  postgres: {
    integer: 'bigint',
    flag: 'integer',
    decimal: 'numeric',
    date: 'date',
    time: 'time',
    timestamp: 'timestamp', // The service's wall clock, which has no zone.
    text: 'text',
    json: 'text', // jsonb would change numbers and the order of keys.
    instant: 'timestamptz(3)',
  },
};

/**
 * Our own columns. They begin with `_`, so that they collide with no field of the service. `_raw` is last: what stands behind a
 * long value is slow to read.
 */
const OWN = [
  { name: '_first_seen_at', type: 'instant', rule: 'NOT NULL' },
  { name: '_changed_at', type: 'instant', rule: 'NOT NULL' },
  { name: '_deleted_at', type: 'instant' },
  { name: '_response', type: 'integer', rule: 'NOT NULL' },
  { name: '_listed', type: 'integer' },
  { name: '_raw', type: 'text', rule: 'NOT NULL' },
] as const;

export const OWN_COLUMNS = OWN.map(({ name }) => name);

/** The columns of a kind's table, in their order: the fields, those derived from them, and our own. */
export const kindColumns = (kind: Kind, dialect: Dialect): readonly Column[] => [
  ...recordColumns(kind, dialect),
  ...OWN.map((column) => ({ ...column, type: TYPES[dialect][column.type] })),
];

/** The columns that are filled from a record. */
function recordColumns(kind: Kind, dialect: Dialect): readonly Column[] {
  const { fields } = kind;
  return [
    ...fields.map((field) => ({
      ...fieldColumn(field, dialect),
      ...(field.name === 'id' && { rule: 'NOT NULL PRIMARY KEY' }),
    })),
    ...derivedColumns(fields, dialect),
    ...keyColumn(kind, dialect),
    ...searchColumn(fields, dialect),
  ];
}

export const filledColumns = (kind: Kind, dialect: Dialect): readonly string[] =>
  recordColumns(kind, dialect).map(({ name }) => name);

/** The columns that landing writes. */
export const writtenColumns = (kind: Kind, dialect: Dialect): readonly string[] =>
  kindColumns(kind, dialect).map(({ name }) => name);

/** The column of a field, without those derived from it. */
function fieldColumn(field: Field, dialect: Dialect): Column {
  return { name: field.name, type: TYPES[dialect][columnType(field)] };
}

/** Makes the rows for `writtenColumns`, of a decoded record's values and those of `OWN_COLUMNS`. */
export function rowWriter(kind: Kind, dialect: Dialect) {
  const keyOf = keyWriter(kind);
  return (values: readonly SqlValue[], own: readonly SqlValue[] = []): SqlValue[] => {
    const { fields } = kind;
    const derived = [
      ...derivedValues(fields, dialect, values),
      ...keyOf(values),
      ...searchTexts(fields, values),
    ];
    return [...values, ...derived, ...own];
  };
}

/** The values of the columns that are derived from decoded fields, in the order of `derivedColumns`. */
export function derivedValues(fields: readonly Field[], dialect: Dialect, values: readonly SqlValue[]) {
  const derived: SqlValue[] = [];
  let index = -1;
  for (const field of fields) {
    const value = values[++index] ?? null;
    if (field.recordOf !== undefined) derived.push(recordIdIn(value));
    else if (!isDecimal(field)) continue;
    else if (value === null) derived.push(null, null);
    else derived.push(SHOWN_DECIMAL[dialect](String(value)), toUnits(String(value)));
  }
  return derived;
}

/** The id of the record that a nested value is; null if it has none that can be one. */
function recordIdIn(json: SqlValue): SqlValue {
  if (json === null) return null;
  const value = tryParseJson(String(json));
  const id = isObject(value) ? ownValue(value, 'id') : value;
  return decodeIfFits({ name: 'id', type: 'integer' }, id) ?? null;
}

const isDecimal = ({ type }: Field): boolean => type === 'decimal';

/** PostgreSQL's `_real` has a scale: readers such as DuckDB take a plain `numeric` for a DOUBLE. */
const DIGITS = 38;
const PLACES = 10;

/** What a view shows of a decimal; null where PostgreSQL would have to round it. */
const SHOWN_DECIMAL: Record<Dialect, (decimal: string) => SqlValue> = {
  sqlite: Number,
  postgres: (decimal) => {
    const [whole = '', fraction = ''] = decimal.split('.');
    const isShown = whole.replace('-', '').length <= DIGITS - PLACES && /^0*$/.test(fraction.slice(PLACES));
    return isShown ? `${whole}.${fraction.slice(0, PLACES).padEnd(PLACES, '0')}` : null;
  },
};

/**
 * Beside the exact decimal stand a number to chart and an integer of 0.0001 to sum exactly and fast; beside a nested record, its
 * id to join by.
 */
function derivedColumns(fields: readonly Field[], dialect: Dialect): readonly Column[] {
  const real = dialect === 'sqlite' ? 'REAL' : `numeric(${DIGITS},${PLACES})`;
  const { integer } = TYPES[dialect];
  return fields.flatMap((field) => {
    const { name, recordOf } = field;
    if (recordOf !== undefined) return [{ name: idColumnName(name), type: integer }];
    if (!isDecimal(field)) return [];
    return [
      { name: `${name}_real`, type: real },
      { name: `${name}_e4`, type: integer },
    ];
  });
}

const keyColumn = (kind: Kind, dialect: Dialect): readonly Column[] =>
  keyedFields(kind).length > 0 ? [{ name: KEY_COLUMN, type: TYPES[dialect].text }] : [];

/** Behind the derived columns stands the text that a record is found by. */
const searchColumn = (fields: readonly Field[], dialect: Dialect): readonly Column[] =>
  fields.some(isSearchField) ? [{ name: SEARCH_COLUMN, type: TYPES[dialect].text }] : [];

const UNIT_PLACES = 4;
const MOST_DIGITS = 14;

/**
 * A canonical decimal in units of 0.0001, as text where a JS number would not hold it exactly. Null beyond 4 places or 14
 * digits before the point, where 64 bits would not hold it.
 */
function toUnits(decimal: string): SqlValue {
  const places = decimalPlaces(decimal);
  const whole = decimal.length - (places === 0 ? 0 : places + 1) - (decimal.startsWith('-') ? 1 : 0);
  if (places > UNIT_PLACES || whole > MOST_DIGITS) return null;
  const units = decimal.replace('.', '') + '0'.repeat(UNIT_PLACES - places);
  const number = Number(units);
  return Number.isSafeInteger(number) ? number : units;
}

/** The table of the elements of a kind's nested array: one row per element, written with the parent's row. */
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
  /** Fields of the elements that were seen in the wild. */
  readonly hints: readonly Field[];
  /** Set where a text stands for the array: the field of its parts. */
  readonly part: Field | undefined;
}

/** The name of the table of a nested array. */
export const nestedName = (kind: string, array: string): string => `${kind}_${array}`;

const PARENT = integerField('parent_id');
const POSITION = integerField('position');
/** An element of an array without documented fields: a scalar as text, any other value as JSON. */
const VALUE = jsonField('value');

/**
 * The tables of a kind's nested arrays, in the order of its fields. Arrays that were seen in the wild have theirs before the
 * service sends them, so that analysts' queries can rely on it.
 */
export function nestedTables(shape: Shape): readonly NestedTable[] {
  const { name: kind, fields, hints } = shape;
  const known = new Set(fields.map(({ name }) => name));
  const all = [...fields, ...hints.filter(({ name }) => !known.has(name))];
  const arrays = all.filter((field) => isArrayField(field) || field.part !== undefined);
  return arrays.map(
    ({
      name: array,
      part,
      items = part && [part],
      discoveredItems: discoveredItems = [],
      itemHints = [],
    }) => ({
      name: nestedName(kind, array),
      kind,
      array,
      own: items === undefined ? [PARENT, POSITION, VALUE] : [PARENT, POSITION],
      items: [...(items ?? []), ...discoveredItems],
      hints: itemHints,
      part,
    }),
  );
}

/** A table with `SEARCH_COLUMN`, its fields, and its column with the id of the record. */
export interface SearchTable {
  readonly name: string;
  readonly id: 'id' | 'parent_id';
  readonly fields: readonly Field[];
}

/** The tables in which records of a kind, as the mirror holds it, are found by their texts. */
export function searchTables(kind: Kind): readonly SearchTable[] {
  const nested = nestedTables(kind).filter((table) => table.items.some(isSearchField));
  const own = kind.fields.some(isSearchField)
    ? [{ name: kind.name, id: 'id', fields: kind.fields } as const]
    : [];
  return [
    ...own,
    ...nested.map((table) => ({ name: table.name, id: 'parent_id', fields: table.items }) as const),
  ];
}

/** Whether a field may hold an array of its own table. */
export const isArrayField = (field: Field): field is Extract<Field, { readonly type: 'json' }> =>
  field.type === 'json' && field.isObject !== true;

/** The shape of the elements: their fields are tracked and discovered like those of records. */
export const elementShape = ({ excluded = [] }: Kind, table: NestedTable): Shape => ({
  name: table.name,
  fields: [...table.own, ...table.items],
  hints: table.hints,
  excluded,
});

/** The columns of a nested table, in their order. */
export function nestedColumns(table: NestedTable, dialect: Dialect): readonly Column[] {
  return [
    ...table.own.map((field) => ({
      ...fieldColumn(field, dialect),
      ...(field !== VALUE && { rule: 'NOT NULL' }),
    })),
    ...table.items.map((field) => fieldColumn(field, dialect)),
    ...derivedColumns(table.items, dialect),
    ...searchColumn(table.items, dialect),
  ];
}

/** Raised when the decoder reads the same text differently than before. */
const DECODER_VERSION = 7;

/** Hashes of the rules that fill a kind's columns and, after a space, its nested tables if any. */
export function decoderHash(kind: Kind): string {
  const columns = hashRules([DECODER_VERSION, kind.fields.map(ruleOf)]);
  const tables = nestedTables(kind);
  if (tables.length === 0) return columns;
  const nested = tables.map((table) => [table.name, table.own.map(ruleOf), table.items.map(ruleOf)]);
  return `${columns} ${hashRules([DECODER_VERSION, nested])}`;
}

function ruleOf(field: Field): readonly (string | number | null)[] {
  const { name, scale, textOf, recordOf } = field;
  const further = [textOf, recordOf].filter((each) => each !== undefined);
  return [name, columnType(field), scale ?? null, ...further];
}

const hashRules = (rules: unknown): string => hash('sha256', JSON.stringify(rules));
