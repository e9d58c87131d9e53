import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { createQueue } from '../../lib/queue.ts';
import { sqliteError } from '../session/errors.ts';
import type { Session, Transaction } from '../session/session.ts';
import {
  openReader,
  openWriter,
  insertAll,
  readById,
  refuseNoFile,
  runStatement,
  tableColumns,
} from './connection.ts';

/**
 * Opens a SQLite file: one writing connection whose transactions queue up, and one read-only connection.
 * @throws {MirrorError} If there is no file but a pipe, or it cannot be opened, or the SQLite library is too old.
 */
export function openSqliteSession(path: string): Session {
  guarded(path, () => {
    refuseNoFile(path);
  });
  const writer = guarded(path, () => openWriter(path));
  const reader = guarded(path, () => openReader(path, writer));
  const { atomically, alone } = createGroupCommit(writer, path);

  const close = async (): Promise<void> => {
    await alone(async () => {
      reader.close();
      writer.close(); // The connection closed last checkpoints, so it must be the one that may write.
      return Promise.resolve();
    });
  };

  return {
    dialect: 'sqlite',
    location: path,
    query: async (statement) => {
      await yieldToEventLoop(); // SQLite answers on our thread: whatever reads a lot lets other work in between.
      return guarded(path, () => runStatement(reader, statement));
    },
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
    write: (statement) =>
      step(() => {
        runStatement(writer, statement);
      }),
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

/** Runs transactions one after the other; those that queue up at the same time share one fsync. */
interface GroupCommit {
  /** Runs work as one transaction: all of it lands, or nothing. */
  readonly atomically: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs between transactions. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

interface Waiting {
  /** Returns a function that settles the caller's promise once the group has landed. Alone, its fault is that of the group. */
  readonly run: (isAlone: boolean) => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

const MOST_TOGETHER = 32;

/**
 * Groups the transactions of a connection. Each is a savepoint within its group: one that fails does not affect the others, and
 * no caller gets a result before the whole group has landed. One alone needs none, and SQLite copies no page for it.
 */
function createGroupCommit(writer: Database, path: string): GroupCommit {
  const enqueue = createQueue();
  const waiting: Waiting[] = [];
  const commitGroup = async (): Promise<void> => {
    await yieldToEventLoop(); // I/O that has arrived meanwhile may add work to this group, and waits for this thread either way.
    const group = waiting.splice(0, MOST_TOGETHER);
    if (waiting.length > 0) void enqueue(commitGroup);
    await runGroup(writer, group).catch((error: unknown) => {
      for (const { fail } of group) fail(sqliteError(error, path));
    });
  };
  return {
    atomically: (work) =>
      new Promise((resolve, reject) => {
        const caller = { resolve, reject, path };
        const run: Waiting['run'] = async (isAlone) => {
          if (!isAlone) return inSavepoint(writer, work, caller);
          const result = await work();
          return () => {
            resolve(result);
          };
        };
        waiting.push({ run, fail: reject });
        if (waiting.length === 1) void enqueue(commitGroup);
      }),
    alone: enqueue,
  };
}

/** @throws The fault of the transaction as a whole; nothing of the group has landed then. */
async function runGroup(writer: Database, group: readonly Waiting[]): Promise<void> {
  writer.exec('begin immediate'); // A transaction that read first could not become a writer.
  try {
    const endings: (() => void)[] = [];
    for (const { run } of group) endings.push(await run(group.length === 1));
    writer.exec('commit');
    for (const end of endings) end();
  } catch (error) {
    if (writer.inTransaction) writer.exec('rollback'); // A full disk has already rolled back.
    throw error;
  }
}

interface Caller<T> {
  readonly resolve: (result: T) => void;
  readonly reject: (error: unknown) => void;
  readonly path: string;
}

async function inSavepoint<T>(
  writer: Database,
  work: () => Promise<T>,
  { resolve, reject, path }: Caller<T>,
): Promise<() => void> {
  writer.exec('savepoint work');
  try {
    const result = await work();
    writer.exec('release work');
    return () => {
      resolve(result);
    };
  } catch (error) {
    if (!writer.inTransaction) throw error; // The error rolled back the whole group.
    writer.exec('rollback to work');
    writer.exec('release work');
    return () => {
      reject(sqliteError(error, path));
    };
  }
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteError(error, path);
  }
}
