import type { Database } from 'better-sqlite3';
import { sqliteError } from './errors.ts';
import { createGroupCommit } from './group-commit.ts';
import type { Session, Transaction } from './session.ts';
import { openReader, openWriter } from './sqlite-connection.ts';
import { insertAll, readById, runStatement, tableColumns } from './sqlite-statements.ts';

/**
 * Opens a SQLite file: one writing connection whose transactions queue up, one read-only connection for the rest.
 *
 * @throws {MirrorError} Where the file cannot be opened, or the SQLite library is too old.
 */
export function openSqliteSession(path: string): Session {
  const writer = guarded(path, () => openWriter(path));
  const reader = guarded(path, () => openReader(path, writer));
  const { atomically, alone } = createGroupCommit(writer, path);

  const close = async (): Promise<void> => {
    await alone(async () => {
      reader.close();
      writer.close(); // The last one out checkpoints, so it is the one that may write.
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
        writer.pragma('synchronous = FULL'); // SQLite forgets it from one opening to the next.
        return Promise.resolve();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
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
