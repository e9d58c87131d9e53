import { Queue, Worker, createPostgresBackend, runMigrations, withBackend } from 'bullmq';
import type { PgPool } from 'bullmq';
import { Redis } from 'ioredis';
import type { CommonRedisOptions } from 'ioredis';
import pg from 'pg';
import { UsageError } from '../../lib/sync-error.ts';
import { KEEP_ALIVE, LIVENESS_SETTINGS } from '../../mirror/postgres/connection.ts';
import type { ClientOptions, QueueClient } from './queue-client.ts';

/**
 * Returns the function that opens queues at an address, in Redis or PostgreSQL.
 *
 * @throws {UsageError} `jobs.bad_address`.
 */
export function storeAt(url: string): (options: ClientOptions) => QueueClient {
  if (/^rediss?:\/\//.test(url)) return (options) => openInRedis(url, options);
  if (/^postgres(?:ql)?:\/\//.test(url)) return (options) => openInPostgres(url, options);
  throw new UsageError('QUEUE_URL is not an address that a queue can be kept at.', {
    code: 'jobs.bad_address',
    hint: 'Write redis://HOST:6379, rediss://… or postgres://USER:PASSWORD@HOST:5432/DATABASE; or leave it out for a single process.',
  });
}

const CONNECT_MS = 5_000;
const QUEUE_OPTIONS = { streams: { events: { maxLen: 100 } } }; // No process reads the events.
const WORKER_OPTIONS = {
  autorun: false, // `createReopening` runs it once it is ready.
  maxStalledCount: 1_000_000, // By default the second crash of a worker fails the job.
  removeOnComplete: { count: 0 }, // For jobs that another client has added without options.
  removeOnFail: { count: 0 },
} as const;

const PRODUCER_OPTIONS = {
  enableOfflineQueue: false, // While Redis is away a command fails at once, instead of waiting for it.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
} as const;

function openInRedis(url: string, options: ClientOptions): QueueClient {
  const { name, concurrency, commandMs, onJob, onFault } = options;
  const connections: Redis[] = [];
  const keep = (connection: Redis): void => {
    connection.on('error', (error) => {
      onFault(error); // Without a listener ioredis writes to the console.
    });
    connections.push(connection);
  };
  const producer = connectTo(url, { ...PRODUCER_OPTIONS, commandTimeout: commandMs }, keep);
  const ready = new Promise((resolve) => producer.once('ready', resolve));
  const queue = new Queue(name, {
    ...QUEUE_OPTIONS,
    connection: producer,
    skipWaitingForReady: true,
    skipVersionCheck: true, // A queue whose check has failed once, with Redis away, could never be used again.
  });
  const consuming = onJob && connectTo(url, { maxRetriesPerRequest: null }, keep);
  const worker =
    consuming && new Worker(name, onJob, { ...WORKER_OPTIONS, connection: consuming, concurrency });
  const drop = (): void => {
    for (const each of connections) each.disconnect();
  };
  return { queue, worker, ready, drop };
}

const LONGEST_PAUSE_MS = 2_000;

/** Reconnects for ever, and not all processes at the same moment. */
const retryStrategy = (times: number): number =>
  Math.min(50 * 2 ** times, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);

/** Connects; `keep` gets the connection, and those that BullMQ duplicates from it. */
function connectTo(
  url: string,
  options: Omit<CommonRedisOptions, 'replyMapping'>,
  keep: (connection: Redis) => void,
): Redis {
  const first = new Redis(url, { connectTimeout: CONNECT_MS, keepAlive: 5_000, retryStrategy, ...options });
  const duplicate = first.duplicate.bind(first);
  first.duplicate = (override) => {
    const other = duplicate(override);
    keep(other);
    return other;
  };
  keep(first);
  return first;
}

const Postgres = withBackend(createPostgresBackend);
const SCHEMA = 'bullmq'; // BullMQ accepts no other schema with a pool that it has not created.
const STATEMENT_MS = 30_000;

/** Opens a queue in tables of its own. */
function openInPostgres(url: string, options: ClientOptions): QueueClient {
  const { name, concurrency, commandMs, onJob, onFault } = options;
  const producing = openPool({ url, max: 1, connectMs: commandMs }, onFault);
  const consuming = onJob && openPool({ url, max: 3, connectMs: CONNECT_MS }, onFault); // It listens on one of them.
  const queue = new Postgres.Queue(name, { ...QUEUE_OPTIONS, connection: producing });
  const ready = queue.waitUntilReady();
  ready.catch((error: unknown) => {
    onFault(error, 'fatal'); // BullMQ remembers that it could not connect, and never tries again.
  });
  const worker =
    consuming && new Postgres.Worker(name, onJob, { ...WORKER_OPTIONS, connection: consuming, concurrency });
  const drop = (): void => {
    void producing.end();
    void consuming?.end();
  };
  return { queue, worker, ready, drop };
}

interface PoolTarget {
  readonly url: string;
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
    ...{ query_timeout: STATEMENT_MS, options: startOptions(), ...KEEP_ALIVE },
    onConnect: async (client) => {
      client.on('error', (error) => {
        // Without another listener BullMQ would keep a dead connection for good.
        if (client.listenerCount('error') === 1) onFault(error, 'fatal');
      });
      if (!isMigrated) await runMigrations(client, SCHEMA);
      isMigrated = true;
    },
  };
  const pool = new pg.Pool(options);
  pool.on('error', () => undefined); // BullMQ reports it.
  return pool as PgPool;
}

/**
 * BullMQ listens on its connection and finds its tables by the search path: neither works through a transaction pooler. It
 * refuses these options, where a `set` would stay on a connection that another application gets next.
 */
function startOptions(): string {
  const settings = Object.entries({ ...LIVENESS_SETTINGS, search_path: SCHEMA });
  return settings.map(([name, value]) => `-c ${name}=${value}`).join(' ');
}
