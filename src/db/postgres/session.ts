import type { SQL } from 'drizzle-orm';
import { createSerialQueue } from '../../lib/serial-queue.ts';
import { systemClock, type Clock } from '../../lib/time/clock.ts';
import { MirrorError } from '../session/errors.ts';
import type { Row, Session, Transaction } from '../session/session.ts';
import * as connections from './connection.ts';
import { createRetryPolicy, isConnectionLost, type WaitOrThrow } from './errors.ts';
import { runPostgresStatement } from './statements.ts';
import { attemptTransaction } from './transaction.ts';

const READER_COUNT = 4;
const LOCK_TIMEOUT_MS = 2_000; // A waiting statement blocks all statements queued behind it.

export interface PostgresOptions {
  readonly clock?: Clock;
  readonly lockTimeoutMs?: number;
}

/**
 * Opens a PostgreSQL database: one writing connection whose transactions queue up, and a few others that only read.
 * @throws {MirrorError} If the database cannot be reached or refuses us, or the server is too old.
 */
export async function openPostgresSession(
  url: string,
  { clock = systemClock, lockTimeoutMs = LOCK_TIMEOUT_MS }: PostgresOptions = {},
): Promise<Session> {
  const target: connections.Target = { url, location: connections.locationOf(url), lockTimeoutMs };
  const createConnection = () =>
    connections.createLazyConnection(clock, () => connections.openConnection(target));
  const writer = createConnection();
  await connectFirst(writer, createRetryPolicy(clock));
  const readers = connections.createConnectionPool(Array.from({ length: READER_COUNT }, createConnection));
  const enqueue = createSerialQueue();
  const close = async (): Promise<void> => {
    await enqueue(() => writer.close());
    await readers.close();
  };
  return {
    dialect: 'postgres',
    location: target.location,
    query: (statement) =>
      readers.use((lazy) =>
        withRetries(createRetryPolicy(clock), async () => queryOnce(await lazy.connection(), statement)),
      ),
    atomically: (work) => enqueue(() => inTransaction(writer, createRetryPolicy(clock), work)),
    makeDurable: () => Promise.resolve(), // Every transaction is: by its settings.
    checkpoint: () => Promise.resolve(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Runs one statement in a transaction that only reads, in one round trip. */
async function queryOnce(connection: connections.Connection, statement: SQL): Promise<Row[]> {
  const begun = connection.runScript(
    `begin isolation level read committed read only; ${connection.settings}`,
  );
  const read = runPostgresStatement(connection, statement);
  const ended = connection.runScript('commit');
  const [, rows] = await Promise.all([begun, read, ended]);
  return rows;
}

/**
 * Opens the first connection. A wrong address or password fails at once; a connection that the server accepted and then ended
 * is retried.
 */
async function connectFirst(writer: connections.LazyConnection, waitOrThrow: WaitOrThrow): Promise<void> {
  try {
    await writer.connection();
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    await withRetries(waitOrThrow, () => writer.connection());
  }
}

/** Runs `work` until it lands: again after a lost connection or a deadlock, never after a COMMIT that the server has recorded. */
async function inTransaction<T>(
  writer: connections.LazyConnection,
  waitOrThrow: WaitOrThrow,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (;;) {
    const connection = await withRetries(waitOrThrow, () => writer.connection());
    const outcome = await attemptTransaction(connection, work);
    if (outcome.is === 'landed') return outcome.result;
    if (outcome.is === 'unknown' && (await isCommitted(writer, waitOrThrow, outcome))) return outcome.result;
    await waitOrThrow(outcome.fault);
  }
}

/**
 * Asks the server whether a transaction whose COMMIT was sent and not answered has landed.
 * @throws {MirrorError} `mirror.commit_unknown` if the server cannot be reached, or does not know, for ten seconds.
 */
async function isCommitted(
  writer: connections.LazyConnection,
  waitOrThrow: WaitOrThrow,
  { xid, fault }: { readonly xid: string; readonly fault: unknown },
): Promise<boolean> {
  try {
    return await withRetries(waitOrThrow, async () => {
      const connection = await writer.connection();
      const { rows } = await connection.queryRows({
        text: 'select pg_xact_status($1::xid8) as state',
        values: [xid],
      });
      const state = rows[0]?.['state'];
      if (state === 'committed') return true;
      if (state === 'aborted') return false;
      throw fault; // The server still counts it as running: ask again a little later.
    });
  } catch (cause) {
    throw new MirrorError(
      'The connection was lost during a commit; the outcome of the transaction is unknown.',
      {
        code: 'mirror.commit_unknown',
        hint: 'Run the command again: stored records are found unchanged.',
        cause,
      },
    );
  }
}

/** Repeats work without side effects until it succeeds or the retry policy gives up. */
async function withRetries<T>(waitOrThrow: WaitOrThrow, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      await waitOrThrow(error);
    }
  }
}

/** Opens a connection of its own whose queries all see the same instant, however long that takes and whatever is written meanwhile. */
export async function openSnapshotReader(url: string) {
  const target = { url, location: connections.locationOf(url), lockTimeoutMs: LOCK_TIMEOUT_MS };
  const connection = await connections.openConnection(target);
  await connection.runScript(`begin isolation level repeatable read read only; ${connection.settings}`);
  return {
    dialect: 'postgres' as const,
    query: (statement: SQL): Promise<Row[]> => runPostgresStatement(connection, statement),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
