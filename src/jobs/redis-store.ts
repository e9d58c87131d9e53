import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { CommonRedisOptions } from 'ioredis';
import type { Consumer, ConsumerOptions, JobStore, OnFault, Producer } from './job-store.ts';
import { WORKER_OPTIONS, consumerOf, producerOf } from './queue-ends.ts';

/** Where Redis is, and how long a command that rings may take. */
export interface RedisTarget {
  readonly url: string;
  readonly ringMs: number;
}

/** BullMQ's queues in Redis. */
export function createRedisStore(target: RedisTarget): JobStore {
  return {
    produce: (queue, onFault) => produce(target, queue, onFault),
    consume: (queue, options, onFault) => consume({ ...target, ...options, queue }, onFault),
  };
}

const LONGEST_PAUSE_MS = 2_000;
const KEEP_ALIVE_MS = 5_000;

/** Reconnects for ever, and not all processes at the same moment. */
const retryStrategy = (times: number): number =>
  Math.min(50 * 2 ** times, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);

function produce({ url, ringMs }: RedisTarget, name: string, onFault: OnFault): Producer {
  const { client, drop } = openClient(url, onFault, {
    enableOfflineQueue: false, // While Redis is away a command fails at once, instead of waiting for it.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: ringMs,
  });
  const connected = new Promise((resolve) => client.once('ready', resolve));
  const queue = new Queue(name, {
    connection: client,
    skipWaitingForReady: true,
    skipVersionCheck: true, // A queue whose check has failed once, with Redis away, would be of no use for good.
    streams: { events: { maxLen: 100 } }, // Nobody reads them.
  });
  const producer = producerOf(queue, { onFault, drop });
  return {
    ...producer,
    add: async (jobs) => {
      await connected; // The first time only: who rings may wait for a moment, and not for longer.
      await producer.add(jobs);
    },
  };
}

function consume(
  { url, queue, concurrency, onJob }: RedisTarget & ConsumerOptions & { readonly queue: string },
  onFault: OnFault,
): Consumer {
  const { client, drop } = openClient(url, onFault, { maxRetriesPerRequest: null });
  const worker = new Worker(queue, onJob, { ...WORKER_OPTIONS, connection: client, concurrency });
  return consumerOf(worker, { onFault, drop });
}

/** Opens a connection that we can cut together with those that BullMQ makes from it. */
function openClient(
  url: string,
  onFault: OnFault,
  options: Pick<
    CommonRedisOptions,
    'enableOfflineQueue' | 'maxRetriesPerRequest' | 'autoResendUnfulfilledCommands' | 'commandTimeout'
  >,
): { readonly client: Redis; readonly drop: () => void } {
  const clients: Redis[] = [];
  const keep = (client: Redis): Redis => {
    client.on('error', (error) => {
      onFault(error); // Without a listener ioredis writes to the console.
    });
    clients.push(client);
    return client;
  };
  const client = keep(
    new Redis(url, { connectTimeout: 5_000, keepAlive: KEEP_ALIVE_MS, retryStrategy, ...options }),
  );
  const duplicate = client.duplicate.bind(client);
  // BullMQ waits for jobs on a copy, which it closes by a command: one that a silent Redis never answers.
  client.duplicate = (override) => keep(duplicate(override));
  return {
    client,
    drop: () => {
      for (const each of clients) each.disconnect();
    },
  };
}
