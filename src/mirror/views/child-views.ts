import { kindWords } from '../../catalog/words.ts';
import type { Kind } from '../../catalog/kind.ts';
import { identifier } from '../session/sql-text.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { nestedTables } from '../tables/nested-table.ts';
import type { NestedTable } from '../tables/nested-table.ts';
import type { View, ViewColumn } from './draw-views.ts';
import { fieldColumns } from './field-columns.ts';

/** The first name of `bi_clients_contacts`; reports go on reading it, and the dictionary leaves it out. */
export const OLD_CONTACTS = 'client_contacts';

/** The elements of a kind's nested arrays, one view an array: `bi_clients_contacts`. */
export function childViews(kind: Kind, dialect: Dialect): readonly View[] {
  const views = nestedTables(kind).map((table) => childView(table, dialect));
  const contacts = views.find(({ name }) => name === 'bi_clients_contacts');
  return contacts === undefined ? views : [...views, { ...contacts, name: OLD_CONTACTS }];
}

function childView(table: NestedTable, dialect: Dialect): View {
  const { kind, array } = table;
  const [elements, parents] = [identifier(table.name), identifier(kind)];
  const columns = [...table.own, ...table.items].flatMap((field) =>
    fieldColumns(field, { kind, array, dialect }),
  );
  return {
    name: `bi_${table.name}`,
    meaning: `The elements of ${array}, one row each. ${kindWords(kind).meaning}`,
    columns: columns.map((column): ViewColumn =>
      column.name === 'parent_id' ? { ...column, refersTo: kind, none: null } : column,
    ),
    from: `from ${elements} where ${LIVE[dialect](elements, parents)}`,
  };
}

/** Leaves out the elements of deleted parents, which are few and have an index; each database by the form that it plans best. */
const LIVE: Record<Dialect, (elements: string, parents: string) => string> = {
  sqlite: (_, parents) => `parent_id not in (select id from ${parents} where _deleted_at is not null)`,
  postgres: (elements, parents) =>
    `not exists (select from ${parents} p where p.id = ${elements}.parent_id and p._deleted_at is not null)`,
};
