import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { CommonRedisOptions } from 'ioredis';
import { WORKER_OPTIONS, queueClient } from './queue-client.ts';
import type { ClientOptions, QueueClient } from './queue-client.ts';

type ConnectionOptions = Pick<
  CommonRedisOptions,
  'enableOfflineQueue' | 'maxRetriesPerRequest' | 'autoResendUnfulfilledCommands' | 'commandTimeout'
>;

const LONGEST_PAUSE_MS = 2_000;

/** Reconnects for ever, and not all processes at the same moment. */
const retryStrategy = (times: number): number =>
  Math.min(50 * 2 ** times, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);

/** Opens a queue in Redis. */
export function openRedisClient(url: string, options: ClientOptions): QueueClient {
  const { name, concurrency, commandMs, onJob, onFault } = options;
  const { connect, drop } = createConnections(url, onFault);
  const producer = connect({
    enableOfflineQueue: false, // While Redis is away a command fails at once, instead of waiting for it.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: commandMs,
  });
  const connected = new Promise((resolve) => producer.once('ready', resolve));
  const queue = new Queue(name, {
    connection: producer,
    skipWaitingForReady: true,
    skipVersionCheck: true, // A queue whose check has failed once, with Redis away, could never be used again.
    streams: { events: { maxLen: 100 } }, // No process reads them.
  });
  const consume = (work: NonNullable<typeof onJob>): Worker => {
    const connection = connect({ maxRetriesPerRequest: null });
    return new Worker(name, work, { ...WORKER_OPTIONS, connection, concurrency });
  };
  const worker = onJob && consume(onJob);
  const client = queueClient({ queue, worker, drop }, onFault);
  return {
    ...client,
    add: async (jobs) => {
      await connected; // Matters only the first time: the caller waits no longer than `commandMs`.
      await client.add(jobs);
    },
  };
}

/** Opens connections that are cut together with those that BullMQ duplicates from them. */
function createConnections(
  url: string,
  onFault: ClientOptions['onFault'],
): { readonly connect: (more: ConnectionOptions) => Redis; readonly drop: () => void } {
  const connections: Redis[] = [];
  const keep = (one: Redis): Redis => {
    one.on('error', (error) => {
      onFault(error); // Without a listener ioredis writes to the console.
    });
    connections.push(one);
    return one;
  };
  return {
    connect: (more) => {
      const first = keep(new Redis(url, { connectTimeout: 5_000, keepAlive: 5_000, retryStrategy, ...more }));
      const duplicate = first.duplicate.bind(first);
      first.duplicate = (override) => keep(duplicate(override));
      return first;
    },
    drop: () => {
      for (const each of connections) each.disconnect();
    },
  };
}
