import { setImmediate as breathe } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { createQueue } from '../../lib/queue.ts';
import { sqliteError } from '../session/errors.ts';

/** Runs transactions one after the other; those that queue up at the same time share one fsync. */
interface GroupCommit {
  /** Runs work as one transaction: all of it lands, or nothing. */
  readonly atomically: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs between transactions. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

interface Waiting {
  /** Returns a function that settles the caller's promise once the group has landed. */
  readonly run: () => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

const MOST_TOGETHER = 32;

/**
 * Groups the transactions of a connection. Each is a savepoint within its group: one that fails does not affect the others,
 * and no caller gets a result before the whole group has landed.
 */
export function createGroupCommit(writer: Database, path: string): GroupCommit {
  const enqueue = createQueue();
  const waiting: Waiting[] = [];
  const commitGroup = async (): Promise<void> => {
    await breathe(); // I/O that has arrived meanwhile may add work to this group, and waits for this thread either way.
    const group = waiting.splice(0, MOST_TOGETHER);
    if (waiting.length > 0) void enqueue(commitGroup);
    await runGroup(writer, group).catch((error: unknown) => {
      for (const { fail } of group) fail(sqliteError(error, path));
    });
  };
  return {
    atomically: (work) =>
      new Promise((resolve, reject) => {
        waiting.push({ run: () => inSavepoint(writer, work, { resolve, reject, path }), fail: reject });
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
    for (const { run } of group) endings.push(await run());
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
