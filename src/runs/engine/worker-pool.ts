import PQueue from 'p-queue';
import type { WorkQueue, WorkRef, WorkResult } from '../../lib/work-queue.ts';
import type { FaultLog } from '../../lib/log/fault-log.ts';
import { errorCode } from '../../lib/sync-error.ts';

export type WorkerPool = ReturnType<typeof createWorkerPool>;

/**
 * Works one queue's rows, at most `queue.concurrency` at once.
 * @param signal Fires when the grace period of running work is over.
 * @param onEnd Called after each row.
 */
export function createWorkerPool(queue: WorkQueue, log: FaultLog, signal: AbortSignal, onEnd: () => void) {
  const workers = new PQueue({ concurrency: queue.concurrency });
  const running = new Map<number, number>(); // Rows with their epochs.
  let isClosed = false;
  const work = async (ref: WorkRef): Promise<WorkResult> => {
    if (isClosed || running.get(ref.id) === ref.epoch) return null;
    running.set(ref.id, ref.epoch);
    try {
      const result = await queue.work(ref, signal);
      log.succeeded();
      return result;
    } catch (error) {
      log.failed(error); // The row is still due, or is taken over when its owner ends.
      return { state: 'unknown', verdict: errorCode(error) || 'fault', hasFailed: true };
    } finally {
      if (running.get(ref.id) === ref.epoch) running.delete(ref.id);
      onEnd();
    }
  };
  return {
    /** Works a row as soon as a worker is free; never throws. */
    run: (ref: WorkRef): Promise<WorkResult> => workers.add(() => work(ref)),
    has: (id: number): boolean => running.has(id),
    /** How many workers have nothing to do. */
    free: (): number => queue.concurrency - workers.pending,
    /** Stops claiming work and resolves once none runs. */
    close: (): Promise<void> => {
      isClosed = true;
      return workers.onIdle();
    },
  };
}
