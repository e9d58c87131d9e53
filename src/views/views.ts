import { sql } from 'drizzle-orm';
import { isListed, type Kind } from '../catalog/kind.ts';
import { describeKindName } from '../catalog/descriptions.ts';
import type { Queryable } from '../db/session/session.ts';
import {
  OLD_CONTACTS,
  VIEWS_SCHEMA,
  identifier,
  isViewName,
  literal,
  qualifiedName,
} from '../db/session/sql-text.ts';
import { END_OF_DAY } from '../lib/time/clock.ts';
import { translateAll } from '../lib/text/translator.ts';
import { readMirroredKind } from '../store/kinds/field-store.ts';
import { nestedTables, type Dialect, type NestedTable } from '../store/tables/kind-table.ts';
import { SEARCH_COLUMN, isSearchField } from '../store/tables/search-text.ts';
import { hasRow, readRows, readTexts, type RowOf } from '../db/rows/rows.ts';
import type { View, ViewColumn } from './create-views.ts';
import { TABLE_VIEWS, asInteger, calendarView, historyView, syncStatusViews } from './engine-views.ts';
import { engineColumns } from './engine-columns.ts';
import { fieldColumns } from './field-columns.ts';
import { priceChangesViews } from './price-changes-view.ts';
import { statusFields, statusesViews } from './statuses-view.ts';

/** The views that analysts read; a view comes after the views that it uses. */
export function listViews(kinds: readonly Kind[], dialect: Dialect): readonly View[] {
  return [
    ...kinds.flatMap((kind) => kindViews(kind, dialect)),
    ...TABLE_VIEWS,
    ...kinds.filter((kind) => kind.name === 'products').flatMap((kind) => priceChangesViews(kind, dialect)),
    ...syncStatusViews(kinds.filter(isListed), dialect),
    ...statusesViews(
      kinds.map((kind) => ({ name: kind.name, columns: statusFields(kind) })),
      dialect,
    ),
    calendarView(dialect),
  ];
}

/** One kind's views: its live rows, the elements of its nested arrays (`bi_clients_contacts`), and its history. */
export function kindViews(kind: Kind, dialect: Dialect): readonly View[] {
  const { meaning } = describeKindName(kind.name);
  const columns = [
    ...fieldColumns(kind.fields, { kind: kind.name, dialect }),
    ...engineColumns('record'),
    ...(kind.fields.some(isSearchField) ? engineColumns('search', { _search: SEARCH_COLUMN }) : []),
    ...minutesColumn(kind, dialect),
  ];
  const rows: View = {
    name: `bi_${kind.name}`,
    meaning,
    columns,
    from: `from ${identifier(kind.name)} where _deleted_at is null`,
  };
  const deleted: View = {
    name: `bi_deleted_${kind.name}`,
    meaning: translateAll('Deleted records, as they were last read. {kind}', { kind: meaning }),
    columns: [...columns, ...engineColumns('deleted')],
    // Whether a record that `forget --suppress` keeps out is deleted, is not known: it was live then.
    from: `from ${identifier(kind.name)} where _deleted_at is not null and not exists (
      select 1 from erasures e where e.kind = ${literal(kind.name)} and e.record_id = cast(${identifier(kind.name)}.id as text)
        and e.suppressed = 1 and e.erased_at <= _deleted_at)`,
  };
  const nested = nestedTables(kind).map((table) => nestedView(table, dialect));
  const contacts = nested.filter((view) => view.name === 'bi_clients_contacts');
  const named = [...contacts.map((view) => ({ ...view, name: OLD_CONTACTS })), historyView(kind), deleted];
  return [rows, ...nested, ...named];
}

/** Seconds since midnight, as SQL: a time is a text in SQLite. */
const SECONDS: Record<Dialect, (time: string) => string> = {
  sqlite: (time) =>
    `cast(substr(${time}, 1, 2) as integer) * 3600 + cast(substr(${time}, 4, 2) as integer) * 60 + cast(substr(${time}, 7, 2) as integer)`,
  postgres: (time) => `cast(extract(epoch from ${time}) as bigint)`,
};

/** A field of the service with this name wins. */
function minutesColumn(kind: Kind, dialect: Dialect): readonly ViewColumn[] {
  const names = kind.fields.map((field) => field.name);
  if (kind.minutes === undefined || names.includes('minutes')) return [];
  const { from, to } = kind.minutes;
  if (![from, to].every((name) => names.includes(name))) return []; // One of them is excluded.
  const [start, end] = [from, to].map((name) => `(${SECONDS[dialect](identifier(name))})`);
  const seconds = `(${end} - ${start} + 86400)`;
  const isWholeDay = [END_OF_DAY.slice(0, 5), '23:59:60'].map((time) => `_raw like '%"${to}":"${time}%'`);
  const wholeDay = `case when ${end} = ${start} and (${isWholeDay.join(' or ')}) then 1440 else 0 end`;
  const value = `cast((${seconds} % 86400 - ${seconds} % 60) / 60 + ${wholeDay} as bigint)`; // DuckDB divides integers into a fraction.
  return engineColumns('minutes', { minutes: dialect === 'sqlite' ? asInteger(value) : value });
}

function nestedView(table: NestedTable, dialect: Dialect): View {
  const { kind, array } = table;
  const elements = identifier(table.name);
  const parents = identifier(kind);
  const columns = fieldColumns([...table.own, ...table.items], { kind, array, dialect });
  return {
    name: `bi_${table.name}`,
    meaning: translateAll('The elements of {array}, one row each. {kind}', {
      array,
      kind: describeKindName(kind).meaning,
    }),
    columns: columns.map((column): ViewColumn => {
      if (column.name === 'parent_id') return { ...column, refersTo: kind, none: null };
      const isScalar = column.name === 'value' && column.type === 'json' && table.items.length === 0;
      return isScalar ? { ...column, type: 'text' } : column; // No object has come, which would have fields.
    }),
    from: `from ${elements} where ${LIVE[dialect](elements, parents)}`,
  };
}

/** Leaves out the elements of deleted parents, which are few and have an index; each database by the form that it plans best. */
const LIVE: Record<Dialect, (elements: string, parents: string) => string> = {
  sqlite: (_, parents) => `parent_id not in (select id from ${parents} where _deleted_at is not null)`,
  postgres: (elements, parents) =>
    `not exists (select from ${parents} p where p.id = ${elements}.parent_id and p._deleted_at is not null)`,
};

/** The kinds that have views: one that the service does not list has them from its first row on, because most mirrors never get any. */
export async function filterKindsWithRows<K extends Kind>(db: Queryable, kinds: readonly K[]) {
  const shown: K[] = [];
  for (const kind of kinds) {
    const first = sql`select 1 from ${sql.identifier(kind.name)} limit 1`;
    if (isListed(kind) || (await hasRow(db, first))) shown.push(kind);
  }
  return shown;
}

/** The views of a mirror with their meaning, those of discovered arrays included; any other view is a user's own. */
export async function readOwnViews(db: Queryable, kinds: readonly Kind[]): Promise<readonly View[]> {
  const shown = await filterKindsWithRows(db, kinds);
  const mirrored = await Promise.all(shown.map((kind) => readMirroredKind(db, kind)));
  return listViews(mirrored, db.dialect).filter((view) => view.isInner !== true);
}

const DECLARED = { name: String, type: String };

/** A column of a view, with its declared type in lower case; SQLite knows no type of an expression (`''`). */
export type DeclaredColumn = RowOf<typeof DECLARED>;

/** The columns of an analysts' view in their order; empty if there is no such view. */
export async function readDeclaredColumns(db: Queryable, view: string): Promise<DeclaredColumn[]> {
  if (!isViewName(view)) return [];
  const columns =
    db.dialect === 'sqlite'
      ? sql`select name, lower(type) as type from pragma_table_xinfo(${view}) order by cid`
      : sql`
        select attname as name, format_type(atttypid, null) as type from pg_attribute
        where attrelid = to_regclass(${qualifiedName(view)}) and attnum > 0 and not attisdropped order by attnum`;
  return readRows(db, DECLARED, columns);
}

/** The names of all analysts' views, by name; SQLite keeps some as tables. */
export async function readViewNames(db: Queryable): Promise<string[]> {
  const names =
    db.dialect === 'sqlite'
      ? sql`select name from sqlite_schema where type in ('view', 'table') order by name`
      : sql`
        select relname as name from pg_class
        where relkind in ('v', 'm', 'r') and relnamespace = ${VIEWS_SCHEMA}::regnamespace order by relname`;
  return (await readTexts(db, names)).filter(isViewName);
}
