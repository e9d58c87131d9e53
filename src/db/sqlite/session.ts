import { setImmediate as yieldToEventLoop, setTimeout as delay } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { SQL, is } from 'drizzle-orm';
import { createSerialQueue } from '../../lib/serial-queue.ts';
import { errorCode } from '../../lib/sync-error.ts';
import { sqliteError, translateErrors } from '../session/errors.ts';
import { inChunks, onConflictSkip, onConflictUpdate } from '../session/sql-text.ts';
import type { Session, TableRows, Transaction, Values } from '../session/session.ts';
import * as connection from './connection.ts';
import { openThreadReader, type SqliteReader } from './thread-reader.ts';

const BUSY_MS = 30_000;

export interface SqliteOptions {
  /** The longest that another process is waited for that holds the file; then the error is `mirror.busy`. */
  readonly busyMs?: number;
  /** Runs selects outside transactions in a thread, as a service does: a command would start later. */
  readonly readsInThread?: boolean;
}

/**
 * Opens a SQLite file: one writing connection whose transactions queue up, and one read-only connection.
 * @throws {MirrorError} If there is no file but a pipe, or it cannot be opened.
 */
export function openSqliteSession(
  path: string,
  { busyMs = BUSY_MS, readsInThread = false }: SqliteOptions = {},
): Session {
  translateErrors(path, () => connection.requireFile(path));
  const writer = translateErrors(path, () => connection.openWriter(path));
  const reader = readsInThread
    ? openThreadReader(path)
    : translateErrors(path, () => openReaderHere(path, writer));
  const { atomically, betweenTransactions } = createGroupCommit(writer, path, busyMs);

  const close = async (): Promise<void> => {
    await betweenTransactions(async () => {
      await reader.close();
      writer.close(); // The connection closed last checkpoints, so it must be the one that may write.
    });
  };

  return {
    dialect: 'sqlite',
    location: path,
    query: async (statement) => {
      const { sql, params } = connection.toQuery(statement);
      return retryWhileBusy(busyMs, () => reader.read(sql, params)).catch((error: unknown) => {
        throw sqliteError(error, path);
      });
    },
    atomically: (work) => atomically(() => withHandle(writer, path, work)),
    makeDurable: () =>
      betweenTransactions(() => {
        writer.pragma('synchronous = FULL'); // SQLite does not store this setting in the file.
        return Promise.resolve();
      }),
    checkpoint: () =>
      reader.checkpoint().catch((error: unknown) => {
        throw sqliteError(error, path);
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Reads on our own thread; if it cannot be opened, the writer is closed too. */
function openReaderHere(path: string, writer: Database): SqliteReader {
  try {
    const reader = connection.openReader(path);
    return {
      read: async (text, params) => {
        await yieldToEventLoop(); // Whatever reads a lot lets other work in between.
        return connection.runSync(reader, text, params);
      },
      checkpoint: async () => {
        await yieldToEventLoop();
        connection.checkpoint(path);
      },
      close: async () => {
        reader.close();
        return Promise.resolve();
      },
    };
  } catch (error) {
    writer.close();
    throw error;
  }
}

const ROWS_A_TURN = 200; // Counted, not timed, so that a test repeats the same order.
const PARTS_A_ROW = 10;

/** How many rows a statement is worth: a list of ids, or many rows to insert, take time even if they return nothing. */
const weightOf = (statement: SQL): number => 1 + Math.floor(countParts(statement) / PARTS_A_ROW);

const countParts = (statement: SQL): number =>
  statement.queryChunks.reduce<number>((count, part) => count + (is(part, SQL) ? countParts(part) : 1), 0);

/**
 * Runs work with a handle that is good for this transaction: a branch that runs on must not write into the next one. Every two
 * hundred rows a step lets other work of the process in, which reads the state before the transaction.
 */
async function withHandle<T>(writer: Database, path: string, work: (tx: Transaction) => Promise<T>) {
  let isOver = false;
  let rows = 0;
  const step = async <R>(run: () => R, weight = 1): Promise<R> => {
    if (isOver) throw new Error('This transaction has ended.');
    const result = translateErrors(path, run);
    rows += weight + (Array.isArray(result) ? result.length : 0);
    if (rows >= ROWS_A_TURN) {
      rows = 0;
      await yieldToEventLoop();
    }
    return result;
  };
  const insert = (batch: TableRows, ending = '') => connection.insertAllSync(writer, batch, ending);
  try {
    return await work({
      dialect: 'sqlite',
      query: (statement) => step(() => connection.runStatementSync(writer, statement), weightOf(statement)),
      write: (statement) =>
        step(() => void connection.runStatementSync(writer, statement), weightOf(statement)),
      readRowsById: async (table, columns, ids) => {
        const rows: (readonly [string, Values])[] = [];
        for (const some of inChunks(ids, ROWS_A_TURN))
          rows.push(
            ...(await step(() => connection.readByIdSync(writer, table, columns, some), some.length)),
          );
        return new Map(rows);
      },
      upsertRows: (batch) =>
        step(() => void insert(batch, onConflictUpdate(batch.columns)), batch.rows.length),
      insertRows: (batch) => step(() => void insert(batch), batch.rows.length),
      insertNew: async (batch, key) => {
        const ids: (readonly [string, number])[] = [];
        for (const rows of inChunks(batch.rows, ROWS_A_TURN)) {
          const inserted = await step(() => insert({ ...batch, rows }, onConflictSkip(key)), rows.length);
          ids.push(...inserted.map(([id, value]) => [String(value), Number(id)] as const));
        }
        return new Map(ids);
      },
      listColumns: (table) => step(() => connection.tableColumnsSync(writer, table)),
      execute: (statement) => step(() => void writer.exec(statement)),
    });
  } finally {
    isOver = true;
  }
}

interface PendingTransaction {
  /** Returns a function that settles the caller's promise once the group has landed. */
  readonly run: () => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

const MAX_GROUP_SIZE = 32;

/**
 * Groups the transactions of a connection. Each is a savepoint within its group: one that fails does not affect the others, and
 * no caller gets a result before the whole group has landed. A single transaction needs no savepoint.
 */
function createGroupCommit(writer: Database, path: string, busyMs: number) {
  const enqueue = createSerialQueue();
  const waiting: PendingTransaction[] = [];
  const run = (statement: string): void => translateErrors(path, () => void writer.exec(statement));
  const inSavepoint = async (pending: PendingTransaction): Promise<() => void> => {
    run('savepoint work');
    try {
      const settle = await pending.run();
      run('release work');
      return settle;
    } catch (error) {
      if (!writer.inTransaction) throw error; // The error rolled back the whole group.
      run('rollback to work; release work');
      return () => pending.fail(error);
    }
  };
  /** @throws The fault of the transaction as a whole; nothing of the group has landed then. */
  const runGroup = async (group: readonly PendingTransaction[]): Promise<void> => {
    await retryWhileBusy(busyMs, () => writer.exec('begin immediate')).catch((error: unknown) => {
      throw sqliteError(error, path); // A transaction that read first could not become a writer.
    });
    try {
      const settlers: (() => void)[] = [];
      for (const pending of group)
        settlers.push(await (group.length === 1 ? pending.run() : inSavepoint(pending)));
      run('commit');
      for (const settle of settlers) settle();
    } catch (error) {
      if (writer.inTransaction) run('rollback'); // A full disk has already rolled back.
      throw error;
    }
  };
  const commitGroup = async (): Promise<void> => {
    await yieldToEventLoop(); // I/O that has arrived meanwhile may add work to this group, and waits for this thread either way.
    const group = waiting.splice(0, MAX_GROUP_SIZE);
    if (waiting.length > 0) void enqueue(commitGroup);
    await runGroup(group).catch((error: unknown) => {
      for (const { fail } of group) fail(error);
    });
  };
  return {
    /** Runs work as one transaction: all of it lands, or nothing. Transactions that queue up at the same time share one fsync. */
    atomically: <T>(work: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        const settleLater = async () => {
          const result = await work();
          return () => {
            resolve(result);
          };
        };
        waiting.push({ run: settleLater, fail: reject });
        if (waiting.length === 1) void enqueue(commitGroup);
      }),
    /** Runs between transactions. */
    betweenTransactions: enqueue,
  };
}

const RETRY_DELAY_MS = 25;

/** Tries until no other process holds the file: SQLite's own waiting would stop whatever else this process does. */
async function retryWhileBusy<T>(busyMs: number, work: () => T | Promise<T>): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isBusy = errorCode(error).startsWith('SQLITE_BUSY');
      if (!isBusy || performance.now() - startMs >= busyMs) throw error;
    }
    await delay(RETRY_DELAY_MS);
  }
}
