import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { errorCode } from '../../lib/sync-error.ts';
import { MirrorError, translateErrors } from '../session/errors.ts';
import type { Row, SqlValue, TableRows, Values } from '../session/session.ts';
import { identifier } from '../session/sql-text.ts';
import { GUARD_FUNCTION } from '../session/write-guard.ts';

const OPENING_TIMEOUT_MS = 10_000; // Later SQLite is not to wait by itself: it would stop the whole process.
const WRITER_CACHE_KIB = 24 * 1024;
const READER_CACHE_KIB = 4 * 1024; // It scans whole lists and rarely reads a page twice.
const PAGE_BYTES = 16_384; // A record is a kilobyte: with pages of 4 KB each commit writes three times as much.
const CHECKPOINT_PAGES = 3_000; // 48 MB: a first pull touches the same pages often, and each checkpoint waits for the disk.
const LOG_BYTES = CHECKPOINT_PAGES * PAGE_BYTES; // A reader's long transaction lets the log grow; afterwards it is cut back to this.
const OWNER_ONLY = 0o600; // The mirror holds personal data of clients.

/** Opens the writing connection, with the settings that SQLite does not store in the file. */
export function openWriter(path: string): Database {
  createFile(path);
  const writer = new Sqlite(path, { timeout: OPENING_TIMEOUT_MS });
  try {
    refuseCutFile(writer, path);
    writer.pragma(`page_size = ${PAGE_BYTES}`); // Of a new file; an old one keeps its own.
    writer.pragma('journal_mode = WAL');
    writer.pragma('synchronous = NORMAL'); // A power cut may undo the last pages of a pull; the next pull reads them again.
    writer.pragma(`cache_size = -${WRITER_CACHE_KIB}`);
    writer.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    writer.pragma(`journal_size_limit = ${LOG_BYTES}`);
    writer.pragma('busy_timeout = 0');
    writer.function(GUARD_FUNCTION, { deterministic: true }, () => null);
    return writer;
  } catch (error) {
    writer.close();
    throw /^(?:SQLITE_BUSY|SQLITE_CANTOPEN)/.test(errorCode(error)) ? findCause(error, path) : error;
  }
}

/** SQLite hides why it cannot lock or open a file. A new one beside it, which nobody else uses, shows whether it is the disk. */
function findCause(error: unknown, path: string): unknown {
  const trial = `${path}-${randomUUID()}`;
  try {
    closeSync(openSync(trial, 'wx', OWNER_ONLY));
    const file = new Sqlite(trial, { timeout: 0 });
    try {
      file.exec('begin immediate');
    } finally {
      file.close();
    }
    return error;
  } catch (fault) {
    if (!errorCode(error).startsWith('SQLITE_BUSY')) return fault;
    const hasLocks = !errorCode(fault).startsWith('SQLITE_BUSY');
    return hasLocks ? error : new Sqlite.SqliteError('The file system refuses locks.', 'SQLITE_PROTOCOL');
  } finally {
    rmSync(trial, { force: true });
  }
}

/** Opens a read-only connection. */
export function openReader(path: string): Database {
  const reader = new Sqlite(path, { readonly: true, timeout: OPENING_TIMEOUT_MS });
  reader.pragma(`cache_size = -${READER_CACHE_KIB}`);
  reader.pragma('busy_timeout = 0');
  return reader;
}

/** Opens the file that is at a path now, to read it only. @throws {MirrorError} If there is none. */
export function openFreshFile(path: string) {
  const file = translateErrors(path, () => new Sqlite(path, { readonly: true }));
  return {
    dialect: 'sqlite' as const,
    query: (statement: SQL) =>
      Promise.resolve().then(() => translateErrors(path, () => runStatementSync(file, statement))),
    [Symbol.asyncDispose]: () => Promise.resolve(file.close()).then(() => undefined),
  };
}

/** Moves the log into the file, except what a reader still needs; never waits, and the log keeps its size for the next pull. */
export function checkpoint(path: string): void {
  const file = new Sqlite(path, { fileMustExist: true });
  try {
    file.pragma('wal_checkpoint(PASSIVE)');
  } finally {
    file.close();
  }
}

/** @throws {MirrorError} `mirror.no_file`: opened for reading, a pipe waits for one who writes, without end. */
export function requireFile(path: string): void {
  const stats = path === '' || path === ':memory:' ? null : statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats?.isFile() === true) return;
  throw new MirrorError(`"${path}" is not a file.`, {
    code: 'mirror.no_file',
    hint: 'Set DATABASE_URL to file:PATH with the path of a file, such as file:./data/mirror.db.',
  });
}

/** An existing file is left to SQLite alone: opening and closing it here would drop the process's locks on it. */
function createFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY)); // SQLite gives the files beside it the same mode.
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Refuses a file that ends within a page: SQLite reads the rest as zeros. While a log beside it holds pages, a checkpoint may be
 * writing the file, or a crash may have ended one; the next completes it.
 */
function refuseCutFile(connection: Database, path: string): void {
  const size = connection.transaction(() => {
    connection.pragma('schema_version'); // Locks the file: nobody creates it now.
    const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    return hasLog ? 0 : statSync(path).size;
  })();
  if (size % Number(connection.pragma('page_size', { simple: true })) === 0) return;
  throw new Sqlite.SqliteError('The file ends within a page.', 'SQLITE_CORRUPT');
}

type Native = SqlValue | bigint;

const dialect = new SQLiteSyncDialect();

export const toQuery = (statement: SQL) => dialect.sqlToQuery(statement);

export function runStatementSync(connection: Database, statement: SQL): Row[] {
  const { sql, params } = toQuery(statement);
  return runSync(connection, sql, params);
}

export function runSync(connection: Database, sql: string, params: readonly unknown[]): Row[] {
  const prepared = prepare(connection, sql);
  if (prepared.reader) return (prepared.all(params) as Record<string, Native>[]).map(exactRow);
  prepared.run(params);
  return [];
}

/** Reads rows one by one by their primary key, which costs less than one statement over all of them. */
export function readByIdSync(
  connection: Database,
  table: string,
  columns: readonly string[],
  ids: readonly string[],
): Map<string, Values> {
  const names = columns.map(identifier).join(', ');
  const select = prepare(connection, `select ${names} from ${identifier(table)} where id = ?`, 'raw');
  const rows = new Map<string, Values>();
  for (const id of ids) {
    const row = select.get(id) as Native[] | undefined;
    if (row !== undefined) rows.set(id, exactValues(row));
  }
  return rows;
}

/** Inserts rows, one by one. @param ending What follows the values; returns the rows that it returns. */
export function insertAllSync(connection: Database, batch: TableRows, ending = ''): Values[] {
  const { table, columns, rows } = batch;
  const names = columns.map(identifier).join(', ');
  const placeholders = columns.map(() => '?').join(', ');
  const text = `insert into ${identifier(table)} (${names}) values (${placeholders})${ending}`;
  const insert = prepare(connection, text, 'raw');
  if (insert.reader) return rows.flatMap((row) => (insert.all(row) as Native[][]).map(exactValues));
  for (const row of rows) insert.run(row);
  return [];
}

/** The names of a table's columns, generated ones too. */
export function tableColumnsSync(connection: Database, table: string): ReadonlySet<string> {
  const rows = prepare(connection, 'select name from pragma_table_xinfo(?)').all(table) as { name: string }[];
  return new Set(rows.map((row) => row.name));
}

/** Changes the row in place, as `exactRow` does. */
function exactValues(row: Native[]): Values {
  for (let at = 0; at < row.length; at++) {
    const value = row[at];
    if (typeof value === 'bigint') row[at] = exact(value);
  }
  return row as SqlValue[];
}

/** Changes the row in place: nothing else refers to it, and copying each row would cost more than reading it. */
function exactRow(row: Record<string, Native>): Row {
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'bigint') row[name] = exact(value);
  }
  return row as Row;
}

/** An integer beyond what a JS number holds exactly travels as text. */
function exact(value: bigint): SqlValue {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

const MOST_STATEMENTS = 256; // A pull of all kinds runs about a hundred. One with a list of 500 parameters takes 40 KB.

const statements = new WeakMap<Database, Map<string, Statement>>();

/**
 * Statements are compiled once for each connection: a pull runs the same few for every page. Those used last are kept, because
 * a list has a text of its own for each length.
 */
function prepare(connection: Database, sql: string, shape: 'rows' | 'raw' = 'rows'): Statement {
  const cache = statements.get(connection) ?? new Map<string, Statement>();
  statements.set(connection, cache);
  const key = `${shape} ${sql}`;
  const prepared = cache.get(key) ?? compile(connection, sql, shape);
  cache.delete(key); // So that it is the last one again.
  cache.set(key, prepared);
  const [oldest] = cache.keys();
  if (cache.size > MOST_STATEMENTS && oldest !== undefined) cache.delete(oldest);
  return prepared;
}

function compile(connection: Database, sql: string, shape: 'rows' | 'raw'): Statement {
  const statement = connection.prepare(sql);
  if (!statement.reader) return statement;
  statement.safeIntegers(); // As a JS number, 2^53 + 1 would come back as 2^53.
  return shape === 'raw' ? statement.raw() : statement;
}
