import type { Database } from 'better-sqlite3';
import { sqliteError } from './errors.ts';
import type { Session, Transaction } from './session.ts';
import { openReader, openWriter } from './sqlite-connection.ts';
import { insertAll, readById, runStatement, tableColumns } from './sqlite-statements.ts';
import { createQueue } from './writer-queue.ts';

/**
 * Opens a SQLite file: one writing connection whose transactions queue up, one read-only connection for the rest.
 *
 * @throws {MirrorError} Where the file cannot be opened, or the SQLite library is too old.
 */
export function openSqliteSession(path: string): Session {
  const writer = guarded(path, () => openWriter(path));
  const reader = guarded(path, () => openReader(path, writer));
  const enqueue = createQueue();

  const close = async (): Promise<void> => {
    await enqueue(async () => {
      reader.close();
      writer.close(); // The last one out checkpoints, so it is the one that may write.
      return Promise.resolve();
    });
  };

  return {
    dialect: 'sqlite',
    location: path,
    query: async (statement) => Promise.resolve(guarded(path, () => runStatement(reader, statement))),
    atomically: (work) => enqueue(() => inTransaction(writer, path, work)),
    makeDurable: () =>
      enqueue(() => {
        writer.pragma('synchronous = FULL'); // SQLite forgets it from one opening to the next.
        return Promise.resolve();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function inTransaction<T>(
  writer: Database,
  path: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const handle = transaction(writer);
  guarded(path, () => writer.exec('begin immediate')); // A transaction that read first could not become a writer.
  try {
    const result = await work(handle.tx);
    writer.exec('commit');
    return result;
  } catch (error) {
    if (writer.inTransaction) writer.exec('rollback'); // A full disk has already rolled back.
    throw sqliteError(error, path);
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
