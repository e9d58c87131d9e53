import type { Database, Statement } from 'better-sqlite3';
import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { identifier } from '../session/sql-text.ts';
import type { Row, SqlValue, TableRows, Values } from '../session/session.ts';

type Native = SqlValue | bigint;

const dialect = new SQLiteSyncDialect();

/** Runs one statement and returns its rows. */
export function runStatement(connection: Database, statement: SQL): Row[] {
  const { sql, params } = dialect.sqlToQuery(statement);
  const prepared = prepare(connection, sql);
  if (prepared.reader) return (prepared.all(params) as Record<string, Native>[]).map(exactRow);
  prepared.run(params);
  return [];
}

interface RowsWanted {
  readonly table: string;
  readonly columns: readonly string[];
  readonly ids: readonly string[];
}

/** Reads rows one by one by their primary key, which costs less than one statement over all of them. */
export function readById(connection: Database, { table, columns, ids }: RowsWanted): Map<string, Values> {
  const names = columns.map(identifier).join(', ');
  const select = prepare(connection, `select ${names} from ${identifier(table)} where id = ?`, 'raw');
  const rows = new Map<string, Values>();
  for (const id of ids) {
    const row = select.get(id) as readonly Native[] | undefined;
    if (row !== undefined) rows.set(id, row.map(exact));
  }
  return rows;
}

/** Inserts rows; a row whose id exists already gets the new values, or is an error. */
export function insertAll(
  connection: Database,
  { table, columns, rows }: TableRows,
  onId: 'replace' | 'refuse',
): void {
  const names = columns.map(identifier).join(', ');
  const places = columns.map(() => '?').join(', ');
  const others = columns.filter((column) => column !== 'id');
  const conflict = onId === 'replace' ? replacement(others) : '';
  const insert = prepare(
    connection,
    `insert into ${identifier(table)} (${names}) values (${places})${conflict}`,
  );
  for (const row of rows) insert.run(row);
}

/** The names of a table's columns, generated ones too. */
export function tableColumns(connection: Database, table: string): ReadonlySet<string> {
  const rows = prepare(connection, 'select name from pragma_table_xinfo(?)').all(table) as { name: string }[];
  return new Set(rows.map(({ name }) => name));
}

function replacement(others: readonly string[]): string {
  if (others.length === 0) return ' on conflict (id) do nothing';
  const values = others.map(identifier).map((column) => `${column} = excluded.${column}`);
  return ` on conflict (id) do update set ${values.join(', ')}`;
}

/** Changes the row in place: it has no other holder, and copying each row would cost more than reading it. */
function exactRow(row: Record<string, Native>): Row {
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'bigint') row[name] = exact(value);
  }
  return row as Row;
}

/** An integer beyond what a JS number holds exactly travels as text. */
function exact(value: Native): SqlValue {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

const statements = new WeakMap<Database, Map<string, Statement>>();

/** Statements are compiled once for each connection: a pull runs the same few for every page. */
function prepare(connection: Database, sql: string, shape: 'rows' | 'raw' = 'rows'): Statement {
  const known = statements.get(connection) ?? new Map<string, Statement>();
  statements.set(connection, known);
  const key = `${shape} ${sql}`;
  const prepared = known.get(key) ?? compile(connection, sql, shape);
  known.set(key, prepared);
  return prepared;
}

function compile(connection: Database, sql: string, shape: 'rows' | 'raw'): Statement {
  const statement = connection.prepare(sql);
  if (!statement.reader) return statement;
  statement.safeIntegers(); // As a JS number, 2^53 + 1 would come back as 2^53.
  return shape === 'raw' ? statement.raw() : statement;
}
