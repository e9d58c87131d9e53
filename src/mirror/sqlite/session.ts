import { resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { sqliteError } from '../session/errors.ts';
import { createGroupCommit } from './group-commit.ts';
import { refuseTruncated } from './refuse-truncated.ts';
import type { Session, Transaction } from '../session/session.ts';
import { openReader, openWriter } from './connection.ts';
import { insertAll, readById, runStatement, tableColumns } from './statements.ts';

/** The number of sessions of this process by file. Only a file without a session may be read without SQLite. */
const sessions = new Map<string, number>();

/**
 * Opens a SQLite file: one writing connection whose transactions queue up, and one read-only connection.
 *
 * @throws {MirrorError} If the file cannot be opened or is truncated, or the SQLite library is too old.
 */
export function openSqliteSession(path: string): Session {
  const file = resolve(path);
  if (!sessions.has(file))
    guarded(path, () => {
      refuseTruncated(path);
    });
  const writer = guarded(path, () => openWriter(path));
  const reader = guarded(path, () => openReader(path, writer));
  const { atomically, alone } = createGroupCommit(writer, path);
  sessions.set(file, (sessions.get(file) ?? 0) + 1);

  const close = async (): Promise<void> => {
    await alone(async () => {
      if (writer.open) forget(file);
      reader.close();
      writer.close(); // The connection closed last checkpoints, so it must be the one that may write.
      return Promise.resolve();
    });
  };

  return {
    dialect: 'sqlite',
    location: path,
    query: async (statement) => Promise.resolve(guarded(path, () => runStatement(reader, statement))),
    atomically: (work) => atomically(() => withHandle(writer, work)),
    makeDurable: () =>
      alone(() => {
        writer.pragma('synchronous = FULL'); // SQLite does not store this setting in the file.
        return Promise.resolve();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function forget(file: string): void {
  const others = (sessions.get(file) ?? 1) - 1;
  if (others > 0) sessions.set(file, others);
  else sessions.delete(file);
}

async function withHandle<T>(writer: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const handle = transaction(writer);
  try {
    return await work(handle.tx);
  } finally {
    handle.end();
  }
}

/** A handle that is good for one transaction: a branch that runs on must not write into the next one. */
function transaction(writer: Database): { tx: Transaction; end: () => void } {
  let isOver = false;
  const step = async <T>(work: () => T): Promise<T> => {
    if (isOver) throw new Error('This transaction has ended.');
    return Promise.resolve(work());
  };
  const tx: Transaction = {
    dialect: 'sqlite',
    query: (statement) => step(() => runStatement(writer, statement)),
    rowsById: (table, columns, ids) => step(() => readById(writer, { table, columns, ids })),
    putRows: (rows) =>
      step(() => {
        insertAll(writer, rows, 'replace');
      }),
    append: (rows) =>
      step(() => {
        insertAll(writer, rows, 'refuse');
      }),
    columnsOf: (table) => step(() => tableColumns(writer, table)),
    execute: (statement) =>
      step(() => {
        writer.exec(statement);
      }),
  };
  return {
    tx,
    end: () => {
      isOver = true;
    },
  };
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteError(error, path);
  }
}
