import type { Job, Queue, Worker } from 'bullmq';
import * as z from 'zod';
import type { ProbingLog } from '../../lib/log/fault-log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { withTimeout } from '../../lib/time/deadline.ts';
import type { DueWork, WorkRef } from '../../lib/work-queue.ts';
import type { Timings } from '../engine/timings.ts';

/** One BullMQ queue, and its worker where this process works it, with connections of their own. */
export interface QueueClient {
  readonly queue: Emitter & {
    addBulk: Queue['addBulk'];
    exportPrometheusMetrics: Queue['exportPrometheusMetrics'];
    close: Queue['close'];
  };
  readonly worker:
    | (Emitter & { waitUntilReady: Worker['waitUntilReady']; run: Worker['run']; close: Worker['close'] })
    | null;
  /** Resolves once jobs can be added. */
  readonly ready: Promise<unknown>;
  /** Cuts the connections. */
  readonly disconnect: () => void;
}

interface Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface ClientOptions {
  /** The queue's name in BullMQ. */
  readonly name: string;
  readonly concurrency: number;
  /** The longest that a command of the producer may take. */
  readonly commandMs: number;
  /** What it returns or throws is kept in Redis; null = this process only adds jobs. */
  readonly onJob: ((job: Job) => Promise<unknown>) | null;
  /** Called on faults of BullMQ and its connections; `fatal` if this client cannot be used any more. */
  readonly onFault: (error: unknown, isFatal?: 'fatal') => void;
}

export type OpenClient = (onFault: ClientOptions['onFault']) => QueueClient;

interface ReopeningContext {
  readonly clock: Clock;
  readonly timings: Timings;
  readonly faults: Pick<ProbingLog, 'failed'>;
}

export type ReopeningClient = ReturnType<typeof createReopeningClient>;

/**
 * A queue client that is opened again after a fatal fault, and after a storm of faults.
 * @param name The queue's name in BullMQ.
 * @param running The handlers that run: they end before the connections are cut.
 */
export function createReopeningClient(
  name: string,
  open: OpenClient,
  running: ReadonlySet<Promise<unknown>>,
  context: ReopeningContext,
) {
  const { clock, timings, faults } = context;
  let ended: Promise<unknown> = Promise.resolve();
  let current: QueueClient | null = null;
  let notBefore = -Infinity;
  let isClosed = false;

  /** Waits for running handlers, tries a clean close for `notifyMs`, then disconnects: an unresponsive Redis never closes cleanly. */
  const closeClient = async (client: QueueClient): Promise<void> => {
    const closed = Promise.all([client.queue.close(), client.worker?.close()]).catch((error: unknown) => {
      faults.failed(`closing ${name}`, error);
    });
    await Promise.all(running);
    await withTimeout(clock, timings.notifyMs, closed);
    client.disconnect();
  };
  const abandon = (): void => {
    if (current === null) return;
    ended = Promise.all([ended, closeClient(current)]).then(() => undefined); // Else their results would nest.
    current = null;
  };
  const reopen = (): QueueClient => {
    const isStorm = createStormCounter(clock);
    let opened: QueueClient | null = null;
    const onFault: ClientOptions['onFault'] = (error, isFatal) => {
      if (opened === null || current !== opened) return; // A fault of a client that was abandoned.
      faults.failed(`the queue ${name}`, error);
      if (isFatal === undefined && !isStorm()) return;
      notBefore = clock.monotonicMs() + timings.reopenMs;
      abandon();
    };
    opened = open(onFault);
    const { queue, worker } = opened;
    for (const emitter of [queue, worker])
      emitter?.on('error', (error) => {
        onFault(error); // Without a listener the error would end the process.
      });
    // A worker that never becomes ready, such as with a wrong password, would ask again without a pause if it was run.
    worker
      ?.waitUntilReady()
      .then(() => worker.run())
      .catch((error: unknown) => onFault(error, 'fatal'));
    return opened;
  };
  return {
    /** The present client; null if it broke a moment ago, or after `close`. */
    get: (): QueueClient | null => {
      if (!isClosed && clock.monotonicMs() >= notBefore) current ??= reopen();
      return current;
    },
    close: async (): Promise<void> => {
      isClosed = true;
      abandon();
      await ended;
    },
  };
}

const MAX_FAULTS_PER_SECOND = 100; // This many faults in a second mean that BullMQ loops without a pause.
const STORM_MS = 1_000;

/** Counts its calls; true once there were too many in a second. */
function createStormCounter(clock: Clock): () => boolean {
  let since = -Infinity;
  let count = 0;
  return () => {
    const now = clock.monotonicMs();
    if (now - since > STORM_MS) {
      since = now;
      count = 0;
    }
    count += 1;
    return count >= MAX_FAULTS_PER_SECOND;
  };
}

/** How long ended jobs can be looked at: a day, failed ones a week. A thousand of a queue take 2 MB. */
const KEPT = {
  removeOnComplete: { age: 86_400, count: 1_000 },
  removeOnFail: { age: 604_800, count: 1_000 },
};

/**
 * The job that notifies a row: one attempt, because retries are the row's. A job whose id Redis still knows is dropped, so the id
 * names the mirror, too: one that was made anew or restored counts from 1 again.
 */
export function jobOf({ id, epoch, task }: DueWork, log: string) {
  const jobId = `${log}-${id}-${epoch}`; // Never digits only, never with a colon: BullMQ refuses both.
  return { name: task, data: { id, epoch }, opts: { jobId, attempts: 1, stackTraceLimit: 0, ...KEPT } };
}

// Any client of the store can add jobs, so nothing but two numbers is read from one.
const JOB_DATA = z.strictObject({ id: z.int().positive(), epoch: z.int().nonnegative() });

/** Reads a job; null for a foreign job. */
export function readJob(job: { readonly data: unknown }): WorkRef | null {
  return JOB_DATA.safeParse(job.data).data ?? null;
}
