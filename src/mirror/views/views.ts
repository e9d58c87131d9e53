import type { Field, Kind } from '../../catalog/kind.ts';
import { isListed } from '../../catalog/kind.ts';
import { CHANGES_VIEW, historyView } from './change-views.ts';
import { childViews } from './child-views.ts';
import { identifier } from '../session/identifier.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { grantToReader } from './reader-role.ts';
import { refuseWrites } from './refuse-writes.ts';
import { placeOf } from '../postgres/schemas.ts';
import type { Transaction } from '../session/session.ts';
import { syncStatusView } from './status-view.ts';
import type { View, ViewColumn } from './view.ts';

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
 * Creates views. An existing view keeps its columns in their order and gets new ones at its end, so that analysts' objects
 * that depend on it keep working.
 */
export async function drawViews(tx: Transaction, views: readonly View[], dialect: Dialect): Promise<void> {
  for (const view of views) {
    const select = selectOf(view, [...(await tx.columnsOf(view.name))]);
    if (dialect === 'postgres') await tx.execute(`create or replace view ${placeOf(view.name)} as ${select}`);
    else {
      await tx.execute(`drop view if exists ${identifier(view.name)}`); // SQLite resolves a view only when it is read.
      await tx.execute(`create view ${identifier(view.name)} as ${select}`);
    }
  }
  if (dialect === 'postgres') await openToReaders(tx, views);
}

/** Grants PostgreSQL's reader role the right to read the views, and makes the views refuse all writes. */
export async function openToReaders(tx: Transaction, views: readonly View[]): Promise<void> {
  const names = views.map(({ name }) => name);
  await refuseWrites(tx, names);
  await grantToReader(tx, names);
}

/** The `select` of a view: its existing columns in their order, then new ones. */
export function selectOf({ columns, from }: View, present: readonly string[]): string {
  const place = ({ name }: ViewColumn): number => (present.includes(name) ? present.indexOf(name) : Infinity);
  const ordered = columns
    .map((column, index) => ({ column, index }))
    .sort((a, b) => byPlace(place(a.column), place(b.column)) || a.index - b.index);
  const list = ordered.map(({ column: { name, expression } }) => {
    return expression === identifier(name) ? expression : `${expression} as ${identifier(name)}`;
  });
  return `select ${list.join(', ')} ${from}`;
}

const byPlace = (a: number, b: number): number => (a === b ? 0 : a - b);

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
