import { createPostgresBackend, runMigrations, withBackend } from 'bullmq';
import type { PgPool } from 'bullmq';
import pg from 'pg';
import { KEEP_ALIVE, LIVENESS_SETTINGS, settingStatements } from '../../mirror/postgres/connection.ts';
import { WORKER_OPTIONS, queueClient } from './queue-client.ts';
import type { ClientOptions, QueueClient } from './queue-client.ts';

const { Queue, Worker } = withBackend(createPostgresBackend);

const CONNECT_MS = 5_000;
const SCHEMA = 'bullmq'; // BullMQ accepts no other schema with a pool that it has not created.
const STATEMENT_MS = 30_000;

/** Opens a queue in PostgreSQL, in tables of its own: the schema `bullmq`. */
export function openPostgresClient(url: string, options: ClientOptions): QueueClient {
  const { name, concurrency, commandMs, onJob, onFault } = options;
  const producing = openPool({ url, max: 1, connectMs: commandMs }, onFault);
  const consuming = onJob && openPool({ url, max: 3, connectMs: CONNECT_MS }, onFault); // It listens on one of them.
  const queue = new Queue(name, { connection: producing, streams: { events: { maxLen: 100 } } });
  queue.waitUntilReady().catch((error: unknown) => {
    onFault(error, 'fatal'); // BullMQ remembers that it could not connect, and never tries again.
  });
  const worker =
    consuming && new Worker(name, onJob, { ...WORKER_OPTIONS, connection: consuming, concurrency });
  const drop = (): void => {
    void producing.end();
    void consuming?.end();
  };
  return queueClient({ queue, worker, drop }, onFault);
}

interface PoolTarget {
  readonly url: string;
  /** The maximum number of connections. */
  readonly max: number;
  readonly connectMs: number;
}

// pg waits for the promise, which its types do not know yet.
interface PoolOptions extends Omit<pg.PoolConfig, 'onConnect'> {
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

/**
 * Opens the connections that BullMQ works with, and sets up its tables on the first of them.
 *
 * With a pool of its own, BullMQ leaves connections without a listener at times: one that the server ends at such a
 * moment, above all while a process starts, would end the process.
 */
export function openPool({ url, max, connectMs }: PoolTarget, onFault: ClientOptions['onFault']): PgPool {
  let isMigrated = false;
  const options: PoolOptions = {
    ...{ connectionString: url, application_name: 'bms-sync', max, connectionTimeoutMillis: connectMs },
    ...{ query_timeout: STATEMENT_MS, ...KEEP_ALIVE },
    onConnect: async (client) => {
      client.on('error', (error) => {
        // Without another listener BullMQ would keep a dead connection for good.
        if (client.listenerCount('error') === 1) onFault(error, 'fatal');
      });
      if (!isMigrated) await runMigrations(client, SCHEMA);
      isMigrated = true;
      await client.query(settingStatements({ ...LIVENESS_SETTINGS, search_path: SCHEMA }).join('; '));
    },
  };
  const pool = new pg.Pool(options);
  pool.on('error', () => undefined); // BullMQ reports it.
  return pool as PgPool;
}
