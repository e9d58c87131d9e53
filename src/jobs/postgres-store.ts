import { createPostgresBackend, withBackend } from 'bullmq';
import type { JobStore } from './job-store.ts';
import { openPool } from './postgres-pool.ts';
import { WORKER_OPTIONS, consumerOf, producerOf } from './queue-ends.ts';

/** Where PostgreSQL is, and how long a statement that rings may take. */
export interface PostgresTarget {
  readonly url: string;
  readonly ringMs: number;
}

const { Queue, Worker } = withBackend(createPostgresBackend);

const CONNECT_MS = 5_000;

/** BullMQ's queues in PostgreSQL, in tables of its own: the schema `bullmq`. */
export function createPostgresStore({ url, ringMs }: PostgresTarget): JobStore {
  return {
    produce: (name, onFault) => {
      const pool = openPool({ url, max: 1, connectMs: ringMs }, onFault);
      const queue = new Queue(name, { connection: pool, streams: { events: { maxLen: 100 } } });
      queue.waitUntilReady().catch((error: unknown) => {
        onFault(error, 'fatal'); // BullMQ remembers that it could not connect, and never tries again.
      });
      return producerOf(queue, { onFault, drop: () => void pool.end() });
    },
    consume: (name, { concurrency, onJob }, onFault) => {
      const pool = openPool({ url, max: 3, connectMs: CONNECT_MS }, onFault); // On one of them it listens.
      const worker = new Worker(name, onJob, { ...WORKER_OPTIONS, connection: pool, concurrency });
      return consumerOf(worker, { onFault, drop: () => void pool.end() });
    },
  };
}
