import type { JobName } from './job-data.ts';
import type { Ring } from './work-queue.ts';

/** A job that is to be put into a queue. */
export interface NewJob {
  /** Unique among the jobs that wait; never digits only, never with a colon: BullMQ refuses both. */
  readonly jobId: string;
  readonly name: JobName;
  readonly data: Ring;
  /** Whether it goes before those that wait. */
  readonly isFirst: boolean;
}

/** A job as it was taken from a queue; its name and data are whatever somebody put there. */
export interface TakenJob {
  readonly id?: string | undefined;
  readonly name: unknown;
  readonly data: unknown;
}

/** One end of a queue, with connections of its own. */
export interface QueueEnd {
  /** Stops at once and resolves when all has ended in order, which may be never where the store is silent. */
  close(): Promise<void>;
  /** Cuts the connections. */
  drop(): void;
}

/** The end of a queue where jobs are put in. */
export interface Producer extends QueueEnd {
  add(jobs: readonly NewJob[]): Promise<void>;
  /** Removes a job that still waits; false where it was taken, or lost. */
  takeBack(jobId: string): Promise<boolean>;
  /** BullMQ's own figures, as Prometheus reads them. */
  metrics(): Promise<string>;
}

/** The end of a queue where jobs are taken out. */
export type Consumer = QueueEnd;

export interface ConsumerOptions {
  readonly concurrency: number;
  /** Must not throw. */
  readonly onJob: (job: TakenJob) => Promise<void>;
}

/** Told of faults of a connection or of BullMQ itself, and whether the end is of no more use. */
export type OnFault = (error: unknown, isFatal?: 'fatal') => void;

/** Where BullMQ keeps its queues. */
export interface JobStore {
  produce(queue: string, onFault: OnFault): Producer;
  consume(queue: string, options: ConsumerOptions, onFault: OnFault): Consumer;
}
