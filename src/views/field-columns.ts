import { documentedKind } from '../catalog/kinds/catalog.ts';
import { columnType, idColumnName, type Field } from '../catalog/kind.ts';
import {
  describeExactColumn,
  describeField,
  describeIdColumn,
  describeKindName,
  describeUnitColumn,
} from '../catalog/descriptions.ts';
import { identifier } from '../db/session/sql-text.ts';
import type { Dialect } from '../store/tables/kind-table.ts';
import type { ViewColumn } from './create-views.ts';

interface ColumnOwner {
  readonly dialect: Dialect;
  readonly kind: string;
  /** The field that holds the array whose elements are shown; left out for the fields of records. */
  readonly array?: string;
}

/** The columns in which a view shows fields. In SQLite plain references: only these keep their type in every client. */
export function fieldColumns(fields: readonly Field[], owner: ColumnOwner): ViewColumn[] {
  const { kind, array, dialect } = owner;
  const documented = new Set(documentedKind(kind)?.fields.map((field) => field.name));
  const { section } = describeKindName(kind);
  return fields.flatMap((field) => {
    const description = describeField(array === undefined ? kind : `${kind}_${array}`, field);
    const isDocumented = documented.has(array ?? field.name); // Elements are if their array is.
    return columnsOf(field, dialect, {
      description,
      section: isDocumented ? (section ?? undefined) : undefined,
    });
  });
}

function columnsOf(field: Field, dialect: Dialect, facts: ColumnFacts): ViewColumn[] {
  const { name } = field;
  const column = identifier(name);
  if (field.type === 'decimal') return decimalColumns(field, dialect, facts);
  if (field.recordOf !== undefined) return recordColumns(field, field.recordOf, facts);
  if (field.refersTo === undefined) return [{ name, expression: column, type: columnType(field), ...facts }];
  return [{ name, expression: column, type: 'integer', refersTo: field.refersTo, none: '0', ...facts }];
}

/** A nested record as JSON, and its id. */
function recordColumns({ name }: Field, refersTo: string, facts: ColumnFacts): ViewColumn[] {
  const id = idColumnName(name);
  return [
    { ...facts, name, expression: identifier(name), type: 'json' },
    {
      ...facts,
      name: id,
      expression: identifier(id),
      type: 'integer',
      refersTo,
      none: '0',
      description: describeIdColumn(facts.description),
    },
  ];
}

type ColumnFacts = Pick<ViewColumn, 'description' | 'section'>;

function decimalColumns({ name }: Field, dialect: Dialect, facts: ColumnFacts): ViewColumn[] {
  const exact = dialect === 'sqlite' ? identifier(name) : `${identifier(name)}::text`;
  const units = `${name}_e4`;
  const { description } = facts;
  return [
    { ...facts, name, expression: identifier(`${name}_real`), type: 'decimal' },
    {
      ...facts,
      name: `${name}_exact`,
      expression: exact,
      type: 'text',
      description: describeExactColumn(description),
    },
    {
      ...facts,
      name: units,
      expression: identifier(units),
      type: 'integer',
      description: describeUnitColumn(description),
    },
  ];
}
