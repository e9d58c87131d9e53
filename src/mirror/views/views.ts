import { sql } from 'drizzle-orm';
import type { Field, Kind } from '../../catalog/kind.ts';
import { isListed } from '../../catalog/kind.ts';
import type { Queryable } from '../session/session.ts';
import { identifier } from '../session/sql-text.ts';
import { FIELDS } from '../tables/engine-tables.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { pick, select } from '../tables/rows.ts';
import { childViews } from './child-views.ts';
import type { View, ViewColumn } from './draw-views.ts';
import { CHANGES_VIEW, historyView, syncStatusView } from './engine-views.ts';

/** The views that analysts read; a view comes after the views that it uses. */
export function viewsOf(kinds: readonly Kind[], dialect: Dialect): readonly View[] {
  return [
    ...kinds.flatMap((kind) => [...kindViews(kind, dialect), historyView(kind)]),
    CHANGES_VIEW,
    syncStatusView(kinds.filter(isListed), dialect),
  ];
}

/** One kind's views: its live rows, and the elements of its nested arrays. */
export function kindViews(kind: Kind, dialect: Dialect): readonly View[] {
  return [rowsView(kind, dialect), ...childViews(kind, dialect)];
}

/**
 * The names that our views of these kinds may have in a mirror, discovered arrays included; any other name is a user's own.
 */
export async function namesOfViews(
  db: Queryable,
  kinds: readonly Kind[],
  dialect: Dialect,
): Promise<ReadonlySet<string>> {
  const nested = await select(db, pick(FIELDS, 'kind', 'field'), sql`where column_type = 'json'`);
  return new Set([
    ...viewsOf(kinds, dialect).map(({ name }) => name),
    ...nested
      .filter(({ kind }) => kinds.some(({ name }) => name === kind))
      .map(({ kind, field }) => `bi_${kind}_${field}`),
  ]);
}

/** Live rows; in SQLite plain column references, because only these keep their declared type in every client. */
function rowsView(kind: Kind, dialect: Dialect): View {
  return {
    name: `bi_${kind.name}`,
    columns: kind.fields.flatMap((field) => viewColumns(field, dialect)),
    from: `from ${identifier(kind.name)} where _deleted_at is null`,
  };
}

function viewColumns({ name, type }: Field, dialect: Dialect): ViewColumn[] {
  const column = identifier(name);
  if (type !== 'decimal') return [{ name, expression: column }];
  const [exact, units] = [`${name}_exact`, `${name}_e4`];
  if (dialect === 'sqlite') {
    return [
      { name, expression: identifier(`${name}_real`) },
      { name: exact, expression: column },
      { name: units, expression: identifier(units) },
    ];
  }
  // Null, as in SQLite, if 64 bits cannot hold the value in units of 0.0001.
  const fits = `scale(${column}) <= 4 and abs(${column}) < 1e14`;
  return [
    { name, expression: column },
    { name: exact, expression: `${column}::text` },
    { name: units, expression: `case when ${fits} then (${column} * 10000)::bigint end` },
  ];
}
