import { z } from 'zod';
import type { Ring } from './work-queue.ts';

/** What jobs are about: a row, or nothing but their own way through the queue. */
export type JobName = 'ring' | 'beat';

export interface HeardJob extends Ring {
  readonly name: JobName;
}

// Anybody who reaches the store can put jobs into it, so that nothing but two numbers is read from them.
const JOB = z.object({
  name: z.enum(['ring', 'beat']),
  data: z.strictObject({ id: z.int().positive(), epoch: z.int().nonnegative() }),
});

/** Reads a job; null where it is none of ours, or one of a version that we do not know. */
export function readJob(job: { readonly name: unknown; readonly data: unknown }): HeardJob | null {
  const read = JOB.safeParse({ name: job.name, data: job.data });
  return read.success ? { name: read.data.name, ...read.data.data } : null;
}
