import type { Logger } from '../lib/logger.ts';
import type { OnRing } from './bell.ts';
import { readJob } from './job-data.ts';
import type { TakenJob } from './job-store.ts';

export interface HearingParts {
  readonly queue: string;
  readonly concurrency: number;
  readonly onRing: OnRing;
  readonly logger: Logger;
}

/** What happens to jobs that were taken from a queue. */
export interface Hearing {
  readonly onJob: (job: TakenJob) => Promise<void>;
  /** Resolves once this process takes the heartbeat with that id. */
  expect(jobId: string): Promise<void>;
  forget(jobId: string): void;
  /** How often all hands have become full. */
  timesFull(): number;
  isFull(): boolean;
  /** Resolves once no job is in hand. */
  idle(): Promise<void>;
}

export function createHearing({ queue, concurrency, onRing, logger }: HearingParts): Hearing {
  const expected = new Map<string, () => void>();
  const inHand = new Set<Promise<void>>();
  let timesFull = 0;
  let dropped = 0;
  const drop = (): void => {
    dropped += 1;
    // Who can put one job there can put a million.
    if (Number.isInteger(Math.log10(dropped)))
      logger.warn({ queue, dropped }, 'jobs that are not ours were dropped');
  };
  return {
    onJob: async (job) => {
      const heard = readJob(job);
      if (heard === null) drop();
      if (heard?.name === 'beat') expected.get(job.id ?? '')?.();
      if (heard?.name !== 'ring') return;
      const work = onRing({ id: heard.id, epoch: heard.epoch });
      inHand.add(work);
      if (inHand.size >= concurrency) timesFull += 1;
      await work;
      inHand.delete(work);
    },
    expect: (jobId) =>
      new Promise((resolve) => {
        expected.set(jobId, resolve);
      }),
    forget: (jobId) => void expected.delete(jobId),
    timesFull: () => timesFull,
    isFull: () => inHand.size >= concurrency,
    idle: async () => {
      await Promise.all(inHand);
    },
  };
}
