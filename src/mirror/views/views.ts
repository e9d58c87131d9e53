import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { isListed } from '../../catalog/kind.ts';
import { kindWords } from '../../catalog/words.ts';
import type { Queryable } from '../session/session.ts';
import { identifier } from '../session/sql-text.ts';
import { FIELDS } from '../tables/engine-tables.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { hasRow, pick, select } from '../tables/rows.ts';
import { childViews } from './child-views.ts';
import type { View } from './draw-views.ts';
import {
  CHANGES_VIEW,
  DICTIONARY_VIEW,
  ISSUES_VIEW,
  RELATIONS_VIEW,
  historyView,
  syncStatusViews,
} from './engine-views.ts';
import { engineColumns } from './engine-words.ts';
import { fieldColumns } from './field-columns.ts';

/** The views that analysts read; a view comes after the views that it uses. */
export function viewsOf(kinds: readonly Kind[], dialect: Dialect): readonly View[] {
  return [
    ...kinds.flatMap((kind) => kindViews(kind, dialect)),
    CHANGES_VIEW,
    ...syncStatusViews(kinds.filter(isListed), dialect),
    ISSUES_VIEW,
    DICTIONARY_VIEW,
    RELATIONS_VIEW,
  ];
}

/**
 * The kinds that have views: one that the service does not list has them from its first row on, because most mirrors never
 * get any.
 */
export async function withRows<K extends Kind>(db: Queryable, kinds: readonly K[]): Promise<readonly K[]> {
  const shown: K[] = [];
  for (const kind of kinds) {
    const first = sql`select 1 from ${sql.identifier(kind.name)} limit 1`;
    if (isListed(kind) || (await hasRow(db, first))) shown.push(kind);
  }
  return shown;
}

/** One kind's views: its live rows, the elements of its nested arrays, and its history. */
export function kindViews(kind: Kind, dialect: Dialect): readonly View[] {
  return [rowsView(kind, dialect), ...childViews(kind, dialect), historyView(kind)];
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

function rowsView(kind: Kind, dialect: Dialect): View {
  return {
    name: `bi_${kind.name}`,
    meaning: kindWords(kind.name).meaning,
    columns: [
      ...kind.fields.flatMap((field) => fieldColumns(field, { kind: kind.name, dialect })),
      ...engineColumns('record'),
    ],
    from: `from ${identifier(kind.name)} where _deleted_at is null`,
  };
}
