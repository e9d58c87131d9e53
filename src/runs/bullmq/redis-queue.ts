import { Queue, Worker } from 'bullmq';
import { Redis, type CommonRedisOptions } from 'ioredis';
import { backoffMs } from '../../lib/time/backoff.ts';
import type { ClientOptions, QueueClient } from './queue-client.ts';

const CONNECT_MS = 5_000;
const QUEUE_OPTIONS = { streams: { events: { maxLen: 100 } } }; // No process reads the events.
const WORKER_OPTIONS = {
  autorun: false, // `createReopeningClient` runs it once it is ready.
  maxStalledCount: 1_000_000, // By default the second crash of a worker fails the job.
  removeOnComplete: { count: 0 }, // For jobs that another client has added without options.
  removeOnFail: { count: 0 },
} as const;

const PRODUCER_OPTIONS = {
  enableOfflineQueue: false, // While Redis is away a command fails at once, instead of waiting for it.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
} as const;

/** Opens a queue in Redis. */
export function openQueue(url: string, options: ClientOptions): QueueClient {
  const { name, concurrency, commandMs, onJob, onFault } = options;
  const connections: Redis[] = [];
  const track = (connection: Redis): void => {
    connection.on('error', (error) => {
      onFault(error); // Without a listener ioredis writes to the console.
    });
    connections.push(connection);
  };
  const producer = connectTo(url, { ...PRODUCER_OPTIONS, commandTimeout: commandMs }, track);
  const ready = new Promise((resolve) => producer.once('ready', resolve));
  const queue = new Queue(name, {
    ...QUEUE_OPTIONS,
    connection: producer,
    skipWaitingForReady: true,
    skipVersionCheck: true, // A queue whose check has failed once, with Redis away, could never be used again.
  });
  const consuming = onJob && connectTo(url, { maxRetriesPerRequest: null }, track);
  const worker =
    consuming && new Worker(name, onJob, { ...WORKER_OPTIONS, connection: consuming, concurrency });
  const disconnect = (): void => connections.forEach(closeConnection);
  return { queue, worker, ready, disconnect };
}

/** Ends a connection and the commands that wait for it. Between two attempts ioredis would forget them: only connecting ends them. */
function closeConnection(connection: Redis): void {
  if (connection.status === 'reconnecting') connection.connect().catch(() => undefined); // It is cut at once.
  connection.disconnect();
}

const RECONNECTING = { firstMs: 100, mostMs: 2_000, fixedShare: 0.5 };

/** Connects. @param track Gets the connection, and the ones that BullMQ duplicates from it. */
function connectTo(
  url: string,
  options: Omit<CommonRedisOptions, 'replyMapping'>,
  track: (connection: Redis) => void,
): Redis {
  const first = new Redis(url, {
    connectTimeout: CONNECT_MS,
    keepAlive: 5_000,
    // Reconnects for ever, and not all processes at the same moment.
    retryStrategy: (times) => backoffMs(RECONNECTING, times, Math.random),
    ...options,
  });
  const duplicate = first.duplicate.bind(first);
  first.duplicate = (override) => {
    const copy = duplicate(override);
    track(copy);
    return copy;
  };
  track(first);
  return first;
}
