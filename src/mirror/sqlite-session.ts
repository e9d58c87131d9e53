import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { MirrorError, sqliteError } from './errors.ts';
import { identifier } from './identifier.ts';
import type { Row, Session, TableRows, Transaction, Values } from './session.ts';
import { createQueue } from './writer-queue.ts';

/** SQLite before this may corrupt a WAL database that two connections write and checkpoint at once. */
const OLDEST_SAFE = '3.51.3';
const BUSY_TIMEOUT_MS = 10_000;
const CACHE_KIB = 65_536;
const CHECKPOINT_PAGES = 8_000; // 32 MB: a first pull touches the same pages often, and each checkpoint waits for the disk.

const dialect = new SQLiteSyncDialect();

/**
 * Opens a SQLite file: one writing connection whose transactions queue up, one read-only connection for the rest.
 *
 * @throws {MirrorError} Where the file cannot be opened, or the SQLite library is older than 3.51.3.
 */
export function openSqliteSession(path: string): Session {
  const writer = guarded(path, () => openWriter(path));
  const reader = guarded(path, () => new Database(path, { readonly: true, timeout: BUSY_TIMEOUT_MS }));
  const enqueue = createQueue();
  const tx = transaction(writer);

  const close = async (): Promise<void> => {
    await enqueue(async () => {
      reader.close();
      writer.close(); // The last one out checkpoints, so it is the one that may write.
      return Promise.resolve();
    });
  };

  return {
    dialect: 'sqlite',
    query: async (statement) => Promise.resolve(guarded(path, () => run(reader, statement))),
    atomically: (work) => enqueue(() => inTransaction(writer, path, () => work(tx))),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function openWriter(path: string): Database.Database {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const writer = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  const version = String(writer.prepare('select sqlite_version()').pluck().get());
  if (version.localeCompare(OLDEST_SAFE, 'en', { numeric: true }) < 0) {
    throw new MirrorError(`SQLite is ${version}, expected ${OLDEST_SAFE} or later.`, {
      code: 'mirror.sqlite_too_old',
      hint: 'Run npm ci again: it builds the SQLite that bms-sync was tested with.',
    });
  }
  writer.pragma('journal_mode = WAL');
  writer.pragma('synchronous = NORMAL'); // A power cut may undo the last pages of a pull; the next pull reads them again.
  writer.pragma(`cache_size = -${CACHE_KIB}`);
  writer.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  return writer;
}

async function inTransaction<T>(writer: Database.Database, path: string, work: () => Promise<T>): Promise<T> {
  guarded(path, () => writer.exec('begin immediate')); // A transaction that read first could not become a writer.
  try {
    const result = await work();
    writer.exec('commit');
    return result;
  } catch (error) {
    if (writer.inTransaction) writer.exec('rollback'); // A full disk has already rolled back.
    throw sqliteError(error, path);
  }
}

function transaction(writer: Database.Database): Transaction {
  return {
    query: async (statement) => Promise.resolve(run(writer, statement)),
    rowsById: async (table, columns, ids) => {
      const select = prepare(
        writer,
        `select ${columns.map(identifier).join(', ')} from ${identifier(table)} where id = ?`,
      ).raw();
      const rows = new Map<string, Values>();
      for (const id of ids) {
        const row = select.get(id) as Values | undefined;
        if (row !== undefined) rows.set(id, row);
      }
      return Promise.resolve(rows);
    },
    putRows: async (rows) => {
      insertAll(writer, rows, onIdConflict(rows.columns));
      return Promise.resolve();
    },
    append: async (rows) => {
      insertAll(writer, rows, '');
      return Promise.resolve();
    },
    columnsOf: async (table) => {
      const names = prepare(writer, 'select name from pragma_table_xinfo(?)').pluck().all(table) as string[];
      return Promise.resolve(new Set(names));
    },
    execute: async (statement) => {
      await Promise.resolve(writer.exec(statement));
    },
  };
}

function insertAll(writer: Database.Database, { table, columns, rows }: TableRows, conflict: string): void {
  const names = columns.map(identifier).join(', ');
  const places = columns.map(() => '?').join(', ');
  const insert = prepare(writer, `insert into ${identifier(table)} (${names}) values (${places})${conflict}`);
  for (const row of rows) insert.run(row);
}

function onIdConflict(columns: readonly string[]): string {
  const others = columns.filter((column) => column !== 'id').map(identifier);
  return ` on conflict (id) do update set ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`;
}

function run(database: Database.Database, statement: SQL): Row[] {
  const { sql, params } = dialect.sqlToQuery(statement);
  const prepared = prepare(database, sql);
  if (prepared.reader) return prepared.all(params) as Row[];
  prepared.run(params);
  return [];
}

const statements = new WeakMap<Database.Database, Map<string, Database.Statement>>();

/** Statements are compiled once for each connection: a pull runs the same few for every page. */
function prepare(database: Database.Database, sql: string): Database.Statement {
  const known = statements.get(database) ?? new Map<string, Database.Statement>();
  statements.set(database, known);
  const prepared = known.get(sql) ?? database.prepare(sql);
  known.set(sql, prepared);
  return prepared;
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteError(error, path);
  }
}
