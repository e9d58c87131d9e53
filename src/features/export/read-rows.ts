import { sql, type SQL, type SQLChunk } from 'drizzle-orm';
import { rowsAsOf, type PastRows } from '../../views/as-of.ts';
import { VERSION_COLUMN, versionOf } from '../../store/records/record-version.ts';
import { SEARCH_COLUMN } from '../../store/tables/search-text.ts';
import { inSlices } from '../../db/rows/slices.ts';
import type { Queryable, Row, Values } from '../../db/session/session.ts';
import type { DeclaredColumn } from '../../views/views.ts';

/** Rows to export, in batches: a value for each column. */
export interface ExportSource {
  /** The view that they are of. */
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  readonly batches: AsyncIterable<readonly Values[]>;
  /** The rows of `bi_dictionary` for the columns. */
  readonly dictionary: readonly Row[];
}

/** A view with the columns that are wanted of it. */
interface ViewToRead {
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  /** The table of the kind whose records the rows show; null = of none. */
  readonly table?: string | null;
  /** Which rows; left out = all. */
  readonly where?: SQL | undefined;
}

const ROWS_PER_QUERY = 250; // More rows use more memory and are barely faster.

/** Reads a view in steps, each from the row after the last one: a row is whole, and memory does not grow with the view. */
export async function* readView(db: Queryable, view: ViewToRead): AsyncGenerator<readonly Values[]> {
  const { name, columns, table = null, where } = view;
  const toValues = (row: Row): Values =>
    columns.map((column) => {
      if (table !== null && column.name === VERSION_COLUMN) return versionOf(String(row['_raw']));
      const exact = column.type === 'decimal' ? String(row[column.name + EXACT] ?? '') : ''; // An amount comes as its exact digits.
      return isNumberText(exact) ? exact : (row[column.name] ?? null);
    });
  const key = orderingKey(name, columns);
  const shown = columns.filter((column) => table === null || column.name !== VERSION_COLUMN);
  const names: SQLChunk[] = shown.map((column) => sql.identifier(column.name));
  if (table !== null) names.push(rawOf(name, table)); // In the same statement, so that the version fits the row.
  const rows = where && sql`(select * from ${sql.identifier(name)} where ${where}) as `;
  const listed = sql`select ${sql.join(names, sql`, `)} from ${rows ?? sql``}${sql.identifier(name)}`;
  if (key === null) {
    yield (await db.query(listed)).map(toValues);
    return;
  }
  const readNext = (last: Row) => db.query(sql`${listed} ${afterKey(key, last)} limit ${ROWS_PER_QUERY}`);
  for await (const rows of inSlices(ROWS_PER_QUERY, readNext, {}, (row) => row)) yield rows.map(toValues);
}

const rawOf = (view: string, table: string): SQL =>
  sql`(select k._raw from ${sql.identifier(table)} k where k.id = ${sql.identifier(view)}.id) as _raw`;

/** The rows after the one with this key, in the order of the key. The first part of the key alone finds them by its index. */
function afterKey(key: readonly string[], last: Row): SQL {
  const [first = '', second] = key;
  const order = sql`order by ${sql.join(key.map(keyPart), sql`, `)}`;
  const from = last[first] ?? null;
  if (from === null) return order;
  const start = sql`cast(${String(from)} as bigint)`;
  const part = keyPart(first);
  if (second === undefined) return sql`where ${part} > ${start} ${order}`;
  const next = sql`cast(${String(last[second] ?? 0)} as bigint)`;
  return sql`where ${part} >= ${start} and (${part} > ${start} or ${keyPart(second)} > ${next}) ${order}`;
}

/** The first version of a record has no event. */
const keyPart = (name: string): SQL =>
  name === 'seq' ? sql`coalesce(seq, 0)` : sql`${sql.identifier(name)}`;

/** Reads the rows of a kind, or the elements of one of its nested arrays, as they were at an instant, with the columns of the view. */
export async function* readAsOf(
  db: Queryable,
  past: PastRows,
  columns: readonly ExportColumn[],
): AsyncGenerator<readonly Values[]> {
  const sources = columns.map(({ name, type }) => (type === 'exact' ? name.slice(0, -EXACT.length) : name));
  for await (const rows of rowsAsOf(db, past))
    yield rows.map((row) =>
      sources.map((name) => (name === VERSION_COLUMN ? versionOf(String(row['_raw'])) : (row[name] ?? null))),
    );
}

/**
 * The type of an exported column. `exact` is the text of an amount that another column shows as a number; the type of an
 * `untyped` column is that of each value.
 */
export type ExportType =
  'integer' | 'decimal' | 'exact' | 'real' | 'date' | 'timestamp' | 'time' | 'text' | 'untyped';

export interface ExportColumn {
  readonly name: string;
  readonly type: ExportType;
  /** In a workbook for people. */
  readonly heading?: string;
  /** Whether its cells can be changed and uploaded as corrections. */
  readonly isEditable?: boolean;
}

const TYPES: readonly (readonly [RegExp, ExportType])[] = [
  [/int/, 'integer'],
  [/^(?:numeric|decimal)/, 'decimal'],
  [/^(?:real|double|float)/, 'real'],
  [/^date$/, 'date'],
  [/^timestamp/, 'timestamp'],
  [/^$/, 'untyped'],
];

/** The end of the name of a column that has the exact digits of an amount. */
const EXACT = '_exact';

/** The types in which a view's columns are exported: the same on both databases. An amount comes with its exact digits. */
export function exportColumns(declared: readonly DeclaredColumn[]): readonly ExportColumn[] {
  const types = new Map<string, ExportType>();
  for (const { name, type } of declared)
    types.set(name, TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? 'text');
  const isAmount = (name: string): boolean =>
    types.has(`${name}${EXACT}`) && ['decimal', 'real', 'untyped'].includes(types.get(name) ?? '');
  const shown = declared.filter((column) => column.name !== SEARCH_COLUMN); // A column of our own.
  return shown.map((column) => {
    const { name } = column;
    if (isAmount(name)) return { name, type: 'decimal' };
    const isExact = name.endsWith(EXACT) && isAmount(name.slice(0, -EXACT.length));
    return { name, type: isExact ? 'exact' : (types.get(name) ?? 'text') };
  });
}

/**
 * The columns that order a view's rows and name each of them, so that it can be read in steps; null where there are none:
 * such views are small.
 */
export function orderingKey(view: string, columns: readonly ExportColumn[]): readonly string[] | null {
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  const keys = [view.endsWith('_history') ? ['id', 'seq'] : [], ['parent_id', 'position'], ['id'], ['seq']];
  return keys.find((key) => key.length > 0 && key.every(has)) ?? null;
}

/** The column with the id of the record that a row belongs to; undefined in a view of no records. */
export const recordColumn = (columns: readonly ExportColumn[]): string | undefined =>
  ['parent_id', 'id'].find((name) => columns.some((column) => column.name === name));

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether a text is a number in the grammar of JSON, which CSV and SQL read too. */
export const isNumberText = (text: string): boolean => JSON_NUMBER.test(text);
