import { documentedKind } from '../catalog/kinds/catalog.ts';
import { columnType, idColumnName, type Field, type FieldType } from '../catalog/kind.ts';
import { describeDerived, describeField, describeKindName } from '../catalog/descriptions.ts';
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
  const { name, type, recordOf, refersTo } = field;
  const column = (shown: string, shownType: FieldType, more: Partial<ViewColumn> = {}): ViewColumn => {
    return { ...facts, name: shown, expression: identifier(shown), type: shownType, ...more };
  };
  const own = column(name, columnType(field));
  const reference = { refersTo: recordOf ?? refersTo, none: '0' };
  if (type === 'decimal') return decimalColumns(own, dialect, column);
  if (recordOf === undefined) return [refersTo === undefined ? own : { ...own, ...reference }];
  const description = describeDerived(own.description, '{label}, id', '{meaning} Its id; 0 = none.', null);
  return [own, column(idColumnName(name), 'integer', { ...reference, description })];
}

/** A decimal as a number, exactly, and in units of 0.0001. */
function decimalColumns(
  own: ViewColumn,
  dialect: Dialect,
  column: (shown: string, type: FieldType, more: Partial<ViewColumn>) => ViewColumn,
): ViewColumn[] {
  const { name, expression, description } = own;
  const { unit } = description;
  const exact = describeDerived(description, '{label}, exact', '{meaning} The exact value as text.', unit);
  const inUnits = describeDerived(
    description,
    '{label}, in 0.0001',
    '{meaning} In units of 0.0001, for exact sums.',
    unit === null ? '0.0001' : `0.0001 ${unit}`,
  );
  const exactly = dialect === 'sqlite' ? expression : `${expression}::text`;
  return [
    { ...own, expression: identifier(`${name}_real`) },
    column(`${name}_exact`, 'text', { expression: exactly, description: exact }),
    column(`${name}_e4`, 'integer', { description: inUnits }),
  ];
}

type ColumnFacts = Pick<ViewColumn, 'description' | 'section'>;
