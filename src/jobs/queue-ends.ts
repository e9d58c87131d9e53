import type { BulkJobOptions } from 'bullmq';
import type { JobName } from './job-data.ts';
import type { Consumer, NewJob, OnFault, Producer } from './job-store.ts';
import type { Ring } from './work-queue.ts';

/** BullMQ's queue, whatever it is stored in. */
interface AnyQueue {
  on(event: 'error', listener: (error: Error) => void): unknown;
  addBulk(jobs: BulkJob[]): Promise<unknown>;
  getJob(jobId: string): Promise<unknown>;
  remove(jobId: string): Promise<number>;
  exportPrometheusMetrics(): Promise<string>;
  close(): Promise<void>;
}

/** BullMQ's worker, whatever it is stored in. */
interface AnyWorker {
  on(event: 'error', listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<void>;
  run(): Promise<void>;
  close(): Promise<void>;
}

interface BulkJob {
  readonly name: JobName;
  readonly data: Ring;
  readonly opts: BulkJobOptions;
}

/** What every worker of BullMQ is made with. */
export const WORKER_OPTIONS = {
  autorun: false, // See `consumerOf`.
  maxStalledCount: 1_000_000, // By default the second crash of a worker fails the job.
  removeOnComplete: { count: 0 }, // For jobs that somebody put there without options.
  removeOnFail: { count: 0 },
} as const;

/** A queue as the end where jobs are put in. */
export function producerOf(
  queue: AnyQueue,
  { onFault, drop }: { readonly onFault: OnFault; readonly drop: () => void },
): Producer {
  queue.on('error', (error) => {
    onFault(error); // Without a listener it would end the process.
  });
  return {
    add: async (jobs) => {
      await queue.addBulk(jobs.map(bulkJob));
    },
    takeBack: async (jobId) => {
      const waits = (await queue.getJob(jobId)) !== undefined; // `remove` says 1 of a job that is not there, too.
      return waits && (await queue.remove(jobId)) === 1;
    },
    metrics: () => queue.exportPrometheusMetrics(),
    close: () => queue.close(),
    drop,
  };
}

/** Retries are the row's, not the queue's; and the id of a job that is kept could not be used again. */
function bulkJob({ jobId, name, data: { id, epoch }, isFirst }: NewJob): BulkJob {
  const opts = { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true, lifo: isFirst };
  return { name, data: { id, epoch }, opts };
}

/**
 * A worker as the end where jobs are taken out.
 *
 * It runs once it is ready: one that never becomes ready, for want of a password, would ask again without a pause.
 */
export function consumerOf(
  worker: AnyWorker,
  { onFault, drop }: { readonly onFault: OnFault; readonly drop: () => void },
): Consumer {
  worker.on('error', (error) => {
    onFault(error);
  });
  const run = async (): Promise<void> => {
    try {
      await worker.waitUntilReady();
      await worker.run();
    } catch (error) {
      onFault(error, 'fatal');
    }
  };
  void run();
  return { close: () => worker.close(), drop };
}
