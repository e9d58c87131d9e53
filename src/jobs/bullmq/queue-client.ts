import type { Job, Queue, Worker, BulkJobOptions } from 'bullmq';
import { z } from 'zod';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { NotifiedQueue } from '../notifier.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { within } from '../../lib/time/deadline.ts';
import type { FaultLog } from '../../lib/log/fault-log.ts';
import type { Timings } from '../timings.ts';

/** One BullMQ queue, and its worker where this process works it, with connections of their own. */
export interface QueueClient {
  add(jobs: readonly NewJob[]): Promise<void>;
  /** The queue's own metrics in Prometheus's text format. */
  metrics(): Promise<string>;
  /** Stops taking jobs and resolves once queue and worker have ended, which may be never if the store does not respond. */
  close(): Promise<void>;
  /** Cuts the connections. */
  drop(): void;
}

export interface ClientOptions {
  /** The queue's name in BullMQ. */
  readonly name: string;
  readonly concurrency: number;
  /** The longest that a command of the producer may take. */
  readonly commandMs: number;
  /** Never throws; null = this process only adds jobs. */
  readonly onJob: ((job: Job) => Promise<void>) | null;
  /** Called on faults of BullMQ and its connections; `fatal` if this client cannot be used any more. */
  readonly onFault: (error: unknown, isFatal?: 'fatal') => void;
}

/** Options of every worker. */
export const WORKER_OPTIONS = {
  autorun: false, // See `queueClient`.
  maxStalledCount: 1_000_000, // By default the second crash of a worker fails the job.
  removeOnComplete: { count: 0 }, // For jobs that another client has added without options.
  removeOnFail: { count: 0 },
} as const;

type AnyQueue = Pick<Queue, 'addBulk' | 'exportPrometheusMetrics' | 'close'> & Emitter;
type AnyWorker = Pick<Worker, 'waitUntilReady' | 'run' | 'close'> & Emitter;

interface Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

interface QueueParts {
  readonly queue: AnyQueue;
  readonly worker: AnyWorker | null;
  readonly drop: () => void;
}

/**
 * Joins a queue and its worker.
 *
 * The worker runs only once it is ready: one that never becomes ready, such as with a wrong password, would ask again without
 * a pause.
 */
export function queueClient(
  { queue, worker, drop }: QueueParts,
  onFault: ClientOptions['onFault'],
): QueueClient {
  for (const end of [queue, worker])
    end?.on('error', (error) => {
      onFault(error); // Without a listener the error would end the process.
    });
  if (worker !== null) void run(worker, onFault);
  return {
    add: async (jobs) => {
      await queue.addBulk([...jobs]);
    },
    metrics: () => queue.exportPrometheusMetrics(),
    close: async () => {
      await Promise.all([queue.close(), worker?.close()]);
    },
    drop,
  };
}

async function run(worker: AnyWorker, onFault: ClientOptions['onFault']): Promise<void> {
  try {
    await worker.waitUntilReady();
    await worker.run();
  } catch (error) {
    onFault(error, 'fatal');
  }
}

/** A job as BullMQ stores it. */
export interface NewJob {
  readonly name: 'work';
  readonly data: WorkRef;
  readonly opts: BulkJobOptions;
}

/** The job that notifies a row: unique by row and epoch, one attempt, removed when it ends; retries are the row's. */
export function jobOf({ jobPrefix }: NotifiedQueue, { id, epoch }: WorkRef): NewJob {
  const jobId = `${jobPrefix}-${id}-${epoch}`; // Never digits only, never with a colon: BullMQ refuses both.
  return {
    name: 'work',
    data: { id, epoch },
    opts: { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true },
  };
}

// Any client of the store can add jobs, so nothing but two numbers is read from one.
const JOB = z.object({
  name: z.literal('work'),
  data: z.strictObject({ id: z.int().positive(), epoch: z.int().nonnegative() }),
});

/** Reads a job; null where it is not one of ours. */
export function readJob(job: { readonly name: unknown; readonly data: unknown }): WorkRef | null {
  const read = JOB.safeParse({ name: job.name, data: job.data });
  return read.success ? read.data.data : null;
}

interface ReopeningParts {
  /** The queue's name in BullMQ. */
  readonly name: string;
  readonly clock: Clock;
  readonly timings: Timings;
  readonly faults: FaultLog;
  readonly open: (onFault: ClientOptions['onFault']) => QueueClient;
  /** Resolves once no handler runs. */
  readonly running: () => Promise<void>;
}

/** A queue client that is opened again after a fatal fault, and after a storm of faults. */
export interface Reopening {
  /** The present client; null if it broke a moment ago, or after `close`. */
  get(): QueueClient | null;
  close(): Promise<void>;
}

const STORM = 100; // This many faults in a second mean that BullMQ loops without a pause.
const STORM_MS = 1_000;

export function createReopening(parts: ReopeningParts): Reopening {
  const { name, clock, timings, faults, open } = parts;
  const ending = new Set<Promise<void>>();
  let current: QueueClient | null = null;
  let notBefore = -Infinity;
  let isClosed = false;

  const abandon = (): void => {
    if (current === null) return;
    const end = dispose(parts, current).then(() => void ending.delete(end));
    ending.add(end);
    current = null;
  };
  const reopen = (): QueueClient => {
    const isStorm = createStormCounter(clock);
    let opened: QueueClient | null = null;
    const client = open((error, isFatal) => {
      if (opened === null || current !== opened) return; // A fault of a client that was abandoned.
      faults(`the queue ${name}`, error);
      if (isFatal === undefined && !isStorm()) return;
      notBefore = clock.monotonicMs() + timings.reopenMs;
      abandon();
    });
    opened = client;
    return client;
  };
  return {
    get: () => {
      if (!isClosed && clock.monotonicMs() >= notBefore) current ??= reopen();
      return current;
    },
    close: async () => {
      isClosed = true;
      abandon();
      await Promise.all(ending);
    },
  };
}

/** Waits for running handlers, then closes for a moment, then cuts the connections. */
async function dispose(
  { name, clock, timings, faults, running }: ReopeningParts,
  client: QueueClient,
): Promise<void> {
  const closed = client.close().catch((error: unknown) => {
    faults(`closing ${name}`, error);
  });
  await running();
  await within(clock, timings.notifyMs, closed);
  client.drop();
}

/** Counts its calls; true once there were too many in a second. */
function createStormCounter(clock: Clock): () => boolean {
  let since = -Infinity;
  let count = 0;
  return () => {
    const now = clock.monotonicMs();
    if (now - since > STORM_MS) [since, count] = [now, 0];
    count += 1;
    return count >= STORM;
  };
}
