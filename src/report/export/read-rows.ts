import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { rowsAsOf } from '../../mirror/records/as-of.ts';
import type { Queryable, Row, SqlValue, Values } from '../../mirror/session/session.ts';
import { amountName, exactName, isNumberText, keyOf } from './columns.ts';
import type { ExportColumn } from './columns.ts';

/** Rows to export, in batches: a value for each column. */
export interface ExportSource {
  readonly columns: readonly ExportColumn[];
  readonly batches: AsyncIterable<readonly Values[]>;
}

export interface ViewToRead {
  readonly name: string;
  readonly columns: readonly ExportColumn[];
}

const ROWS_A_QUERY = 250; // More make the program larger, and hardly faster.

/** Reads a view in steps, each from the row after the last one: a row is whole, and memory does not grow with the view. */
export async function* readView(db: Queryable, view: ViewToRead): AsyncGenerator<readonly Values[]> {
  const { name, columns } = view;
  const toValues = valuesReader(columns);
  const key = keyOf(name, columns);
  const listed = sql`select ${commas(columns)} from ${sql.identifier(name)}`;
  if (key === null) {
    yield (await db.query(listed)).map(toValues);
    return;
  }
  for (let last: Row | null = {}; last !== null;) {
    const rows: Row[] = await db.query(sql`${listed} ${after(key, last)} limit ${ROWS_A_QUERY}`);
    yield rows.map(toValues);
    last = rows.length < ROWS_A_QUERY ? null : (rows.at(-1) ?? null);
  }
}

/** The rows after the one with this key, in the order of the key. The first part of the key alone finds them by its index. */
function after(key: readonly string[], last: Row): SQL {
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

const commas = (columns: readonly ExportColumn[]): SQL =>
  sql.join(
    columns.map(({ name }) => sql.identifier(name)),
    sql`, `,
  );

/** Takes a row's values in the order of the columns; an amount comes as its exact digits. */
function valuesReader(columns: readonly ExportColumn[]): (row: Row) => Values {
  return (row) =>
    columns.map(({ name, type }) => (type === 'decimal' ? amountIn(row, name) : (row[name] ?? null)));
}

function amountIn(row: Row, name: string): SqlValue {
  const [shown, exact] = [row[name] ?? null, row[exactName(name)] ?? null];
  return exact !== null && isNumberText(String(exact)) ? String(exact) : shown;
}

/** Reads the rows of a kind as they were at an instant, with the columns of its view. */
export async function* readAsOf(
  db: Queryable,
  { kind, columns, instant }: { readonly kind: Kind; readonly instant: string } & Pick<ViewToRead, 'columns'>,
): AsyncGenerator<readonly Values[]> {
  for await (const rows of rowsAsOf(db, kind, instant))
    yield rows.map((row) =>
      columns.map(({ name, type }) => row[type === 'exact' ? amountName(name) : name] ?? null),
    );
}
