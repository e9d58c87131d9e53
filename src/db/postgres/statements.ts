import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { identifier, inChunks, qualifiedName, onConflictUpdate } from '../session/sql-text.ts';
import type { Connection } from './connection.ts';
import { arrayLiteral } from './values.ts';
import type { Row, TableRows, Values } from '../session/session.ts';

const ROWS_A_STATEMENT = 1_000; // More gain nothing, and a page of records can be large.

const dialect = new PgDialect();

export async function runPostgresStatement(connection: Connection, statement: SQL): Promise<Row[]> {
  const { sql, params } = dialect.sqlToQuery(statement);
  // Without a name, here and below: behind a pooler the next statement may meet a connection that does not know it.
  const { rows } = await connection.queryRows({ text: sql, values: params, queryMode: 'extended' });
  return rows;
}

/** Reads rows by their primary key. */
export async function readPostgresRows(
  connection: Connection,
  table: string,
  columns: readonly string[],
  ids: readonly string[],
): Promise<Map<string, Values>> {
  if (ids.length === 0) return new Map();
  const [idType] = await columnTypes(connection, table, ['id']);
  const names = ['id::text', ...columns.map(identifier)].join(', ');
  const text = `select ${names} from ${identifier(table)} where id = any($1::${idType ?? 'bigint'}[])`;
  const { rows } = await connection.queryArrays({ text, values: [arrayLiteral(ids)], rowMode: 'array' });
  return new Map(rows.map(([id = null, ...values]) => [String(id), values]));
}

/** Inserts rows, a thousand a statement. @param ending What follows the values; returns the rows that it returns. */
export async function insertPostgresRows(
  connection: Connection,
  { table, columns, rows }: TableRows,
  ending = '',
): Promise<Row[]> {
  if (rows.length === 0) return [];
  const types = await columnTypes(connection, table, columns);
  const names = columns.map(identifier).join(', ');
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const text = `insert into ${identifier(table)} (${names}) select * from unnest(${arrays})${ending}`;
  const returned: Row[] = [];
  for (const chunk of inChunks(rows, ROWS_A_STATEMENT)) {
    const values = columns.map((_, index) => arrayLiteral(chunk.map((row) => row[index] ?? null)));
    returned.push(...(await connection.queryRows({ text, values })).rows);
  }
  return returned;
}

/** Inserts rows; a row whose id exists already gets the new values. One statement must not write a row twice: the last one counts. */
export async function upsertPostgresRows(connection: Connection, batch: TableRows): Promise<void> {
  const { columns, rows } = batch;
  const idIndex = columns.indexOf('id');
  const last = new Map(rows.map((row) => [String(row[idIndex]), row]));
  const distinct = last.size === rows.length ? rows : [...last.values()];
  await insertPostgresRows(connection, { ...batch, rows: distinct }, onConflictUpdate(columns));
}

/** The names of the columns of a table or view in our schemas; an object of that name in another schema is not ours. */
export async function readPostgresColumns(connection: Connection, table: string) {
  return new Set((await readTypes(connection, qualifiedName(table))).keys());
}

/** Types of columns by name, without length or scale: a cast would truncate silently, while an insert refuses. */
type Types = ReadonlyMap<string, string>;

const typesByConnection = new WeakMap<Connection, Map<string, Types>>();

/** Drops the cached column types, because the tables may have changed. */
export function clearTypeCache(connection: Connection): void {
  typesByConnection.delete(connection);
}

async function columnTypes(connection: Connection, table: string, columns: readonly string[]) {
  const tables = typesByConnection.get(connection) ?? new Map<string, Types>();
  typesByConnection.set(connection, tables);
  let types = tables.get(table);
  if (types === undefined || columns.some((column) => types?.has(column) !== true)) {
    types = await readTypes(connection, identifier(table)); // Resolved by the search path, as in the statement itself.
    tables.set(table, types);
  }
  return columns.map((column) => types.get(column) ?? 'text'); // The server itself refuses a column that is not there.
}

async function readTypes(connection: Connection, relation: string): Promise<Types> {
  const { rows } = await connection.queryArrays({
    text: `select attname, format_type(atttypid, null) from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
    values: [relation],
    rowMode: 'array',
  });
  return new Map(rows.map(([name, type]) => [String(name), String(type)]));
}
