import { columnType } from '../../catalog/kind.ts';
import type { Field, FieldType, Kind } from '../../catalog/kind.ts';
import { identifier } from '../session/sql-text.ts';
import type { Session } from '../session/session.ts';

export type Dialect = Session['dialect'];

export interface Column {
  readonly name: string;
  /** The declared type, which BI clients rely on. */
  readonly type: string;
  /** The rest of the definition: a constraint, or how the column is derived from another. */
  readonly rule?: string;
}

/** Our own columns. They begin with `_`, so that they collide with no field of the service. */
export const OWN_COLUMNS = [
  '_raw',
  '_first_seen_at',
  '_changed_at',
  '_deleted_at',
  '_response',
  '_listed',
] as const;

const TYPES: Record<Dialect, Record<FieldType | 'instant', string>> = {
  sqlite: {
    integer: 'BIGINT', // Over ODBC, INTEGER is 32-bit.
    flag: 'INTEGER',
    decimal: 'TEXT',
    date: 'DATE',
    time: 'TIME',
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

/** The columns of a kind's table, in their order: the fields, our own, and those that SQLite derives for decimals. */
export function kindColumns(kind: Kind, dialect: Dialect): readonly Column[] {
  const { integer, instant, text } = TYPES[dialect];
  const isDecimal = ({ type }: Field): boolean => type === 'decimal';
  return [
    ...kind.fields.map((field) => ({
      name: field.name,
      type: TYPES[dialect][columnType(field)],
      ...(field.name === 'id' && { rule: 'NOT NULL PRIMARY KEY' }),
    })),
    { name: '_raw', type: text, rule: 'NOT NULL' },
    { name: '_first_seen_at', type: instant, rule: 'NOT NULL' },
    { name: '_changed_at', type: instant, rule: 'NOT NULL' },
    { name: '_deleted_at', type: instant },
    { name: '_response', type: integer, rule: 'NOT NULL' },
    { name: '_listed', type: integer },
    ...(dialect === 'sqlite' ? kind.fields.filter(isDecimal).flatMap(decimalTwins) : []),
  ];
}

/** The columns that landing writes, in the order of `decodeRecord` followed by `OWN_COLUMNS`. */
export function writtenColumns(kind: Kind): readonly string[] {
  return [...kind.fields.map(({ name }) => name), ...OWN_COLUMNS];
}

/**
 * SQLite has no exact decimal: beside the exact text there is a REAL for charts and an integer of 0.0001 for exact sums.
 *
 * The integer is null beyond 4 places or 14 digits before the point, where 64 bits would not hold it.
 */
function decimalTwins({ name }: Field): Column[] {
  const text = identifier(name);
  const point = `instr(${text} || '.', '.')`; // The position of the decimal point, or the end of the text without one.
  const places = `max(0, length(${text}) - ${point})`;
  const digits = `${point} - 1 - (${text} like '-%')`;
  const units = `cast(replace(${text}, '.', '') || substr('0000', 1 + ${places}) as integer)`;
  return [
    { name: `${name}_real`, type: 'REAL', rule: `GENERATED ALWAYS AS (cast(${text} as real)) VIRTUAL` },
    {
      name: `${name}_e4`,
      type: 'BIGINT',
      rule: `GENERATED ALWAYS AS (case when ${places} <= 4 and ${digits} <= 14 then ${units} end) VIRTUAL`,
    },
  ];
}
