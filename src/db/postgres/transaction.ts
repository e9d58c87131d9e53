import type { SQL } from 'drizzle-orm';
import type { Connection } from './connection.ts';
import { MirrorError } from '../session/errors.ts';
import { LOCKED, TABLES_MISSING, WRITER_BUSY, isConnectionLost, isTransient } from './errors.ts';
import {
  clearTypeCache,
  insertPostgresRows,
  readPostgresRows,
  runPostgresStatement,
  readPostgresColumns,
  upsertPostgresRows,
} from './statements.ts';
import type { Row, Transaction } from '../session/session.ts';
import { onConflictSkip } from '../session/sql-text.ts';
import { createSerialQueue } from '../../lib/serial-queue.ts';
import { errorCode } from '../../lib/sync-error.ts';

/** How an attempt ended. `unknown`: the connection was lost at COMMIT; the server knows the outcome by `xid`. */
type Outcome<T> =
  | { readonly is: 'landed'; readonly result: T }
  | { readonly is: 'undone'; readonly fault: unknown }
  | { readonly is: 'unknown'; readonly result: T; readonly xid: string; readonly fault: unknown };

/**
 * Makes one attempt at a transaction. After a rollback by a transient fault it can be repeated.
 * @throws Errors of `work`, and faults that are not transient: the first one, since PostgreSQL answers all later statements
 * with "current transaction is aborted".
 */
export async function attemptTransaction<T>(
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
): Promise<Outcome<T>> {
  const handle = createTransaction(connection);
  try {
    const xid = await handle.run(() => beginAsWriter(connection));
    const result = await work(handle.tx);
    await handle.end();
    return await handle.run(() => commit(connection, result, xid, handle.fault()));
  } catch (error) {
    await handle.end();
    await rollBack(connection);
    const fault = handle.fault(); // An error of `work` may only be a consequence of the first failed statement.
    if (isTransient(fault)) return { is: 'undone', fault };
    throw errorCode(error) === ABORTED && fault !== null ? fault : error;
  }
}

const ABORTED = '25P02'; // PostgreSQL's answer to every statement after a failed one.

/** @param earlierFault The error of the first failed statement; work may have caught it. */
async function commit<T>(
  connection: Connection,
  result: T,
  xid: string,
  earlierFault: Error | null,
): Promise<Outcome<T>> {
  if (earlierFault !== null) throw earlierFault; // PostgreSQL would answer COMMIT with a rollback, and no error.
  try {
    await connection.runScript('commit');
    return { is: 'landed', result };
  } catch (fault) {
    if (!isConnectionLost(fault) && !connection.isLost()) throw fault;
    return { is: 'unknown', result, xid, fault };
  }
}

async function rollBack(connection: Connection): Promise<void> {
  clearTypeCache(connection); // A column that was added in this transaction is rolled back with it.
  try {
    if (!connection.isLost()) await connection.runScript('rollback');
  } catch (error) {
    if (!isConnectionLost(error)) throw error; // The server rolls back after a lost connection.
  }
}

function createFaults() {
  let first: Error | null = null;
  const noteFault = (error: unknown): void => {
    first ??= error instanceof Error ? error : new Error(String(error));
  };
  const noteErrors = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      noteFault(error);
      throw error;
    }
  };
  return { noteFault, noteErrors, firstFault: (): Error | null => first };
}

/** Writes that wait while the server works on the one before them; more would only take memory. */
const MAX_WAITING = 4;

/**
 * A handle for one transaction. It fails after the end, so that late code cannot write into the next transaction. Its statements run in the
 * order in which they were asked for.
 *
 * A write is sent when the one before it is answered: while a server waits for the rest of a long statement it heeds no timeout, so
 * that a process that is frozen then keeps all others from writing.
 */
function createTransaction(connection: Connection) {
  const enqueue = createSerialQueue();
  const waiting: Promise<void>[] = [];
  let latestAnswer: Promise<unknown> = Promise.resolve();
  let isOver = false;
  const { noteFault, noteErrors, firstFault } = createFaults();
  const refuseEnded = (): void => {
    if (isOver) throw new Error('This transaction has ended.');
  };
  const runStep = async <T>(work: () => Promise<T>): Promise<T> => {
    refuseEnded();
    return enqueue(() => noteErrors(work));
  };
  /** Sends a statement that is short; several that are asked for together are answered in the time of one. */
  const ask = async (statement: SQL): Promise<Row[]> => {
    refuseEnded();
    const sent = await enqueue(() => {
      const answer = noteErrors(() => runPostgresStatement(connection, statement));
      latestAnswer = answer.catch(() => undefined);
      return Promise.resolve({ answer });
    });
    return sent.answer;
  };
  /** Does not wait for the server unless it is far behind. The commit waits for all writes and fails if one of them failed. */
  const queueStep = async (work: () => Promise<unknown>): Promise<void> => {
    refuseEnded();
    waiting.push(enqueue(() => work().then(() => undefined, noteFault)));
    if (waiting.length > MAX_WAITING) await waiting.shift();
  };
  const tx: Transaction = {
    dialect: 'postgres',
    query: ask,
    write: (statement) => queueStep(() => runPostgresStatement(connection, statement)),
    readRowsById: (table, columns, ids) => runStep(() => readPostgresRows(connection, table, columns, ids)),
    upsertRows: (rows) => queueStep(() => upsertPostgresRows(connection, rows)),
    insertRows: (rows) => queueStep(() => insertPostgresRows(connection, rows)),
    insertNew: async (rows, key) => {
      const inserted = await runStep(() => insertPostgresRows(connection, rows, onConflictSkip(key)));
      return new Map(inserted.map((row) => [String(row[key]), Number(row['id'])]));
    },
    listColumns: (table) => runStep(() => readPostgresColumns(connection, table)),
    execute: (statement) =>
      runStep(async () => {
        await connection.runScript(statement);
        clearTypeCache(connection);
      }),
  };
  return {
    tx,
    /** Runs a statement outside `work`, and notes its error like that of a step. */
    run: noteErrors,
    /** Refuses further steps and waits for the started ones. */
    end: (): Promise<void> => {
      isOver = true;
      return enqueue(() => latestAnswer.then(() => undefined));
    },
    /** The first error of a step; null if there was none. */
    fault: firstFault,
  };
}

/**
 * Each of our transactions locks one row, the row `writer`, with its first statement. So stores may read and then write, as in
 * SQLite with its single writer, and `changes.seq` rises in the order of commits. Only a role with rights on our tables can
 * take this lock.
 */
const WRITER_KEY = 'writer';
const BEGIN = 'begin isolation level read committed';
const XID = 'select pg_current_xact_id()::text as xid';
const LOCK_WRITER = `select key from mirror_meta where key = '${WRITER_KEY}' for update; ${XID}`;

/** A database that is not a mirror yet has no such row: processes that are about to create the mirror take this advisory lock. */
const FIRST_SETUP_LOCK = 7_237_970_109;
const LOCK_FIRST_SETUP = `select pg_advisory_xact_lock(${FIRST_SETUP_LOCK}); ${XID};
  select to_regclass('mirror_meta') is not null as is_mirror`;

/**
 * Begins a transaction once no other bms-sync writes to this database, in one round trip.
 * @returns The transaction's id; the server knows by it whether the commit succeeded.
 * @throws {MirrorError} `mirror.writer_busy` if another one is still writing after the connection's `lock_timeout`.
 */
async function beginAsWriter(connection: Connection): Promise<string> {
  let xid: string | null = null;
  while (xid === null) xid = await tryLockWriter(connection, `${BEGIN}; ${connection.settings}`);
  return xid;
}

/** Null if the row had to be inserted first. */
async function tryLockWriter(connection: Connection, begin: string): Promise<string | null> {
  try {
    const [, , locked, begun] = await withWriterBusy(connection.runScript(`${begin}; ${LOCK_WRITER}`));
    if (locked?.rows.length === 1) return String(begun?.rows[0]?.['xid']);
  } catch (error) {
    if (!(error instanceof MirrorError && error.code === TABLES_MISSING)) throw error;
    await connection.runScript('rollback');
    return beginFirstSetup(connection, begin);
  }
  await connection.runScript('rollback');
  await connection.runScript(
    `${begin}; insert into mirror_meta (key, value) values ('${WRITER_KEY}', '') on conflict do nothing; commit`,
  );
  return null;
}

/** Null if another process has created the mirror meanwhile. */
async function beginFirstSetup(connection: Connection, begin: string): Promise<string | null> {
  const [, , , begun, mirrorCheck] = await withWriterBusy(
    connection.runScript(`${begin}; ${LOCK_FIRST_SETUP}`),
  );
  if (mirrorCheck?.rows[0]?.['is_mirror'] === 0) return String(begun?.rows[0]?.['xid']);
  await connection.runScript('rollback');
  return null;
}

async function withWriterBusy<T>(locking: Promise<T>): Promise<T> {
  try {
    return await locking;
  } catch (error) {
    if (!(error instanceof MirrorError && error.code === LOCKED)) throw error;
    throw new MirrorError(error.message, { code: WRITER_BUSY, hint: error.hint ?? '', cause: error });
  }
}
