import PQueue from 'p-queue';
import type { WorkQueue, WorkRef } from '../../lib/work-queue.ts';
import type { FaultLog } from '../../lib/log/fault-log.ts';

interface PoolParts {
  readonly queue: WorkQueue;
  readonly faults: FaultLog;
  /** Fires when the grace period of running work is over. */
  readonly signal: AbortSignal;
  /** Called after each row. */
  readonly onEnd: () => void;
}

/** Works one queue's rows, at most `queue.concurrency` at once. */
export interface WorkerPool {
  /** Works a row as soon as a worker is free; never throws. */
  run(ref: WorkRef): Promise<void>;
  has(id: number): boolean;
  /** How many workers have nothing to do. */
  free(): number;
  /** Takes no more work, and resolves once none runs. */
  close(): Promise<void>;
}

export function createWorkerPool({ queue, faults, signal, onEnd }: PoolParts): WorkerPool {
  const workers = new PQueue({ concurrency: queue.concurrency });
  const running = new Map<number, number>(); // Rows with their epochs.
  let isClosed = false;
  const work = async (ref: WorkRef): Promise<void> => {
    if (isClosed || running.get(ref.id) === ref.epoch) return;
    running.set(ref.id, ref.epoch);
    try {
      await queue.work(ref, signal);
    } catch (error) {
      faults(`work on ${queue.name}`, error); // The row is still due, or is taken over when its owner ends.
    }
    if (running.get(ref.id) === ref.epoch) running.delete(ref.id);
    onEnd();
  };
  return {
    run: (ref) => workers.add(() => work(ref)),
    has: (id) => running.has(id),
    free: () => queue.concurrency - workers.pending,
    close: () => {
      isClosed = true;
      return workers.onIdle();
    },
  };
}
