import { documentedKind } from '../catalog/kinds/catalog.ts';
import { columnType, idColumn, type Field } from '../catalog/kind.ts';
import { exactWords, fieldWords, idWords, kindWords, unitWords } from '../catalog/words.ts';
import { identifier } from '../db/session/sql-text.ts';
import type { Dialect } from '../store/tables/kind-table.ts';
import type { ViewColumn } from './draw-views.ts';

interface ColumnOwner {
  readonly dialect: Dialect;
  readonly kind: string;
  /** The field that holds the array whose elements are shown; left out for the fields of records. */
  readonly array?: string;
}

/** The columns in which a view shows fields. In SQLite plain references: only these keep their type in every client. */
export function fieldColumns(fields: readonly Field[], { kind, array, dialect }: ColumnOwner): ViewColumn[] {
  const documented = new Set(documentedKind(kind)?.fields.map(({ name }) => name));
  const { section } = kindWords(kind);
  return fields.flatMap((field) => {
    const words = fieldWords(array === undefined ? kind : `${kind}_${array}`, field);
    const isDocumented = documented.has(array ?? field.name); // Elements are if their array is.
    return columnsOf(field, dialect, { words, section: isDocumented ? (section ?? undefined) : undefined });
  });
}

function columnsOf(field: Field, dialect: Dialect, about: ColumnFacts): ViewColumn[] {
  const { name } = field;
  const column = identifier(name);
  if (field.type === 'decimal') return decimalColumns(field, dialect, about);
  if (field.recordOf !== undefined) return recordColumns(field, field.recordOf, about);
  if (field.refersTo === undefined) return [{ name, expression: column, type: columnType(field), ...about }];
  return [{ name, expression: column, type: 'integer', refersTo: field.refersTo, none: '0', ...about }];
}

/** A nested record as JSON, and its id. */
function recordColumns({ name }: Field, refersTo: string, about: ColumnFacts): ViewColumn[] {
  const id = idColumn(name);
  return [
    { ...about, name, expression: identifier(name), type: 'json' },
    {
      ...about,
      name: id,
      expression: identifier(id),
      type: 'integer',
      refersTo,
      none: '0',
      words: idWords(about.words),
    },
  ];
}

type ColumnFacts = Pick<ViewColumn, 'words' | 'section'>;

function decimalColumns({ name }: Field, dialect: Dialect, about: ColumnFacts): ViewColumn[] {
  const exact = dialect === 'sqlite' ? identifier(name) : `${identifier(name)}::text`;
  const units = `${name}_e4`;
  const { words } = about;
  return [
    { ...about, name, expression: identifier(`${name}_real`), type: 'decimal' },
    { ...about, name: `${name}_exact`, expression: exact, type: 'text', words: exactWords(words) },
    { ...about, name: units, expression: identifier(units), type: 'integer', words: unitWords(words) },
  ];
}
