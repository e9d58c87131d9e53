import { columnType } from '../../catalog/kind.ts';
import type { Field, Kind } from '../../catalog/kind.ts';
import { identifier, literal } from '../session/sql-text.ts';
import type { Dialect } from '../tables/kind-table.ts';
import type { View, ViewColumn } from './draw-views.ts';

/**
 * The elements of a kind's nested arrays, one view an array: `bi_clients_contacts`.
 *
 * Every expression is guarded: an element may hold anything, and a view must not fail on it.
 */
export function childViews(kind: Kind, dialect: Dialect): readonly View[] {
  const views = kind.fields.filter(isNested).map((field) => childView(kind, field, dialect));
  const contacts = views.find(({ name }) => name === 'bi_clients_contacts');
  return contacts === undefined ? views : [...views, { ...contacts, name: 'client_contacts' }];
}

/** Documented arrays have known items; a discovered one may have none. */
function isNested({ type, items, name }: Field): boolean {
  return type === 'json' && (items !== undefined || name !== 'produit_projet');
}

function childView(kind: Kind, { name, items }: Field, dialect: Dialect): View {
  const elements = ELEMENTS[dialect](identifier(name));
  const fields = items?.flatMap((item) => itemColumns(item, dialect));
  return {
    name: `bi_${kind.name}_${name}`,
    columns: [
      { name: 'parent_id', expression: 'p."id"' },
      { name: 'position', expression: elements.position },
      ...(fields ?? [{ name: 'value', expression: elements.value }]),
    ],
    from: `from ${identifier(kind.name)} p ${elements.join} where p._deleted_at is null${fields ? ` and ${elements.isObject}` : ''}`,
  };
}

const ELEMENTS: Record<
  Dialect,
  (array: string) => { join: string; position: string; value: string; isObject: string }
> = {
  sqlite: (array) => ({
    join: `join json_each(case when p.${array} like '[%' and json_valid(p.${array}) then p.${array} else '[]' end) e`,
    position: 'e.key',
    value: `case e.type when 'null' then null when 'text' then e.value else p.${array} -> e.fullkey end`,
    isObject: `e.type = 'object'`,
  }),
  postgres: (array) => ({
    join: `cross join lateral json_array_elements(case when p.${array} like '[%' then p.${array}::json else '[]'::json end) with ordinality e(value, n)`,
    position: '(e.n - 1)',
    value: `case when json_typeof(e.value) in ('object', 'array') then e.value::text else e.value #>> '{}' end`,
    isObject: `json_typeof(e.value) = 'object'`,
  }),
};

function itemColumns(field: Field, dialect: Dialect): ViewColumn[] {
  const [name, type] = [field.name, columnType(field)];
  const text = memberText(name, dialect);
  if (type === 'integer' || type === 'flag') return [{ name, expression: GUARDED[dialect].integer(text) }];
  if (type !== 'decimal') return [{ name, expression: text }];
  return [
    { name, expression: GUARDED[dialect].decimal(text) },
    { name: `${name}_exact`, expression: text },
  ];
}

/** A member as text, every number as written; null if there is no such member. */
function memberText(name: string, dialect: Dialect): string {
  if (dialect === 'postgres') return `(e.value ->> ${literal(name)})`;
  const path = literal(`$."${name}"`);
  return `(case json_type(e.value, ${path}) when 'null' then null when 'text' then e.value ->> ${path} else e.value -> ${path} end)`;
}

/** Casts that yield null for a text that is not such a number, by the same rule in both databases. */
const GUARDED: Record<Dialect, { integer: (text: string) => string; decimal: (text: string) => string }> = {
  sqlite: {
    integer: (text) => {
      const digits = unsigned(text);
      return `case when ${digits} glob '[0-9]*' and ${digits} not glob '*[^0-9]*' and length(${digits}) <= 18 then cast(${text} as integer) end`;
    },
    decimal: (text) => {
      const digits = unsigned(text);
      const isNumber = `${digits} glob '[0-9]*' and ${digits} not glob '*[^0-9.]*' and ${digits} not glob '*.*.*' and ${digits} not glob '*.'`;
      return `case when ${isNumber} and length(${digits}) <= 300 then cast(${text} as real) end`;
    },
  },
  postgres: {
    integer: (text) => `case when ${text} ~ '^-?[0-9]{1,18}$' then ${text}::bigint end`,
    decimal: (text) =>
      `case when ${text} ~ '^-?[0-9]+([.][0-9]+)?$' and length(ltrim(${text}, '-')) <= 300 then ${text}::numeric end`,
  },
};

const unsigned = (text: string): string =>
  `(case when ${text} like '-%' then substr(${text}, 2) else ${text} end)`;
