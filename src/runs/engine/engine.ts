import { TIMED_OUT_RESULT, withTimeout } from '../../lib/time/deadline.ts';
import type { WorkQueue } from '../../lib/work-queue.ts';
import { removeWorker, saveHeartbeat, type Worker } from '../../store/runs/worker-store.ts';
import {
  createWorkLog,
  repeatTask,
  type MirrorContext,
  type RepeatingTask,
} from '../../db/mirror-context.ts';
import { createDispatcher } from './dispatcher.ts';
import type { Notifier } from './notifier.ts';
import { TIMINGS, type Timings } from './timings.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

export type Engine = ReturnType<typeof startEngine>;

/**
 * Starts to find due rows, notify them, work them, and take over the rows of dead processes.
 * @param worker This process's row in the table `workers`: other processes take its rows over once it is not seen any more.
 * @param notifier The engine closes it.
 */
export function startEngine(
  mirror: MirrorContext,
  worker: Worker,
  notifier: Notifier,
  changedTimings: Partial<Timings> = {},
) {
  const { session, clock } = mirror;
  const timings = { ...TIMINGS, ...changedTimings };
  const stop = new AbortController(); // Aborted when running work must stop.
  let isClosing = false; // True when no more work is taken.
  const pools: WorkerPool[] = [];
  const polls = new Map<string, RepeatingTask>();
  const backgroundTasks: RepeatingTask[] = [];

  /** Resolves once the first heartbeat of this process is stored, so that it may claim rows. */
  const registered = new Promise<void>((resolve) => {
    const beat = (): Promise<void> => saveHeartbeat(session, worker).then(resolve);
    backgroundTasks.push(repeatTask(mirror, 'the heartbeat', timings.heartbeatMs, beat));
  });
  const startQueue = (queue: WorkQueue): void => {
    const onEnd = (): void => {
      if (dispatcher.hasRoom()) poll.wake();
    };
    const pool = createWorkerPool(queue, createWorkLog(mirror, `work on ${queue.name}`), stop.signal, onEnd);
    const dispatcher = createDispatcher(queue, pool, { ...mirror, notifier, timings });
    notifier.subscribe(queue, (ref) => pool.run(ref));
    const poll = repeatTask(mirror, `polling ${queue.name}`, timings.pollMs, () => dispatcher.poll());
    const releaseStale = (): Promise<void> => queue.releaseStaleClaims(pool.has);
    pools.push(pool);
    polls.set(queue.name, poll);
    backgroundTasks.push(repeatTask(mirror, `taking over ${queue.name}`, timings.takeOverMs, releaseStale));
  };
  const shutDown = async (): Promise<void> => {
    isClosing = true;
    const work = Promise.all([...pools.map((pool) => pool.close()), notifier.close()]);
    const stopped = Promise.all([...polls.values(), ...backgroundTasks].map((task) => task.stop()));
    const isLate = (await withTimeout(clock, timings.graceMs, work)) === TIMED_OUT_RESULT;
    if (isLate) stop.abort();
    await Promise.all([work, stopped]);
    if (isLate) return; // Work that was cut off may have left claimed rows: others take them over by this process's row.
    await removeWorker(session, worker.owner).catch(createWorkLog(mirror, 'leaving the workers').failed);
  };

  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= shutDown());
  return {
    /** Works a queue, as soon as this process is registered. */
    add: (queue: WorkQueue): void => {
      void registered.then(() => {
        if (!isClosing) startQueue(queue);
      });
    },
    /** Polls for due rows now, of all queues or of one; call it after this process has inserted one. */
    wake: (queue?: string): void => {
      for (const [name, poll] of polls) if (queue === undefined || queue === name) poll.wake();
    },
    /** Stops claiming work and waits for running work; aborts it after the grace period. */
    close,
    [Symbol.asyncDispose]: close,
  };
}
