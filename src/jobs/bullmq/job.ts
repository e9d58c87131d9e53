import type { BulkJobOptions } from 'bullmq';
import { z } from 'zod';
import type { WorkRef } from '../../lib/work-queue.ts';
import type { NotifiedQueue } from '../notifier.ts';

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
