import type { Field, FieldType, Kind } from '../catalog/kind.ts';
import { identifier } from './identifier.ts';

export interface Column {
  readonly name: string;
  /** The declared type, which is what a BI client goes by. */
  readonly type: string;
  /** The rest of the definition: a constraint, or how the column is derived from another. */
  readonly rule?: string;
}

/** Our own columns, which begin with `_` so that no field of the service can be in their way. */
export const OWN_COLUMNS = [
  '_raw',
  '_first_seen_at',
  '_changed_at',
  '_deleted_at',
  '_response',
  '_listed',
] as const;

const SQLITE_TYPES: Record<FieldType, string> = {
  integer: 'BIGINT',
  flag: 'INTEGER',
  decimal: 'TEXT',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  text: 'TEXT',
  json: 'TEXT',
};

/** The columns of a kind's table, in their order: the fields, our own, and what SQLite derives for decimals. */
export function kindColumns(kind: Kind): readonly Column[] {
  return [
    ...kind.fields.map(sqliteColumn),
    { name: '_raw', type: 'TEXT', rule: 'NOT NULL' },
    { name: '_first_seen_at', type: 'TIMESTAMP', rule: 'NOT NULL' },
    { name: '_changed_at', type: 'TIMESTAMP', rule: 'NOT NULL' },
    { name: '_deleted_at', type: 'TIMESTAMP' },
    { name: '_response', type: 'BIGINT', rule: 'NOT NULL' },
    { name: '_listed', type: 'BIGINT' },
    ...kind.fields.filter(({ type }) => type === 'decimal').flatMap(decimalTwins),
  ];
}

/** The columns that landing writes, in the order of `decodeRecord` followed by `OWN_COLUMNS`. */
export function writtenColumns(kind: Kind): readonly string[] {
  return [...kind.fields.map(({ name }) => name), ...OWN_COLUMNS];
}

function sqliteColumn({ name, type }: Field): Column {
  return name === 'id'
    ? { name, type: 'BIGINT', rule: 'NOT NULL PRIMARY KEY' }
    : { name, type: SQLITE_TYPES[type] };
}

/**
 * SQLite has no exact decimal: beside the exact text stand a REAL to chart and an integer of 0.0001 to sum exactly.
 *
 * The integer is null beyond 4 places or 14 digits before the point, where 64 bits would not hold it.
 */
function decimalTwins({ name }: Field): Column[] {
  const text = identifier(name);
  const point = `instr(${text} || '.', '.')`; // Where the point is, or would be.
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
