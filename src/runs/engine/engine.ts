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

type EngineContext = ReturnType<typeof createContext>;

const createContext = (
  mirror: MirrorContext,
  worker: Worker,
  notifier: Notifier,
  timings: Partial<Timings>,
) => ({
  ...mirror,
  worker,
  notifier,
  timings: { ...TIMINGS, ...timings },
  /** Aborted when running work must stop. */
  stop: new AbortController(),
  /** Aborted when no more work is taken. */
  closing: new AbortController(),
  pools: [] as WorkerPool[],
  polls: new Map<string, RepeatingTask>(),
  backgroundTasks: [] as RepeatingTask[],
});

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
  timings: Partial<Timings> = {},
) {
  const context = createContext(mirror, worker, notifier, timings);
  const registered = register(context);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= shutDown(context));
  return {
    /** Works a queue, as soon as this process is registered. */
    add: (queue: WorkQueue): void => {
      void registered.then(() => {
        if (!context.closing.signal.aborted) startQueue(context, queue);
      });
    },
    /** Polls for due rows now, of all queues or of one; call it after this process has inserted one. */
    wake: (queue?: string): void => {
      for (const [name, poll] of context.polls) if (queue === undefined || queue === name) poll.wake();
    },
    /** Stops claiming work and waits for running work; aborts it after the grace period. */
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Begins the heartbeat of this process; resolves once the first one is stored, so that the process may claim rows. */
function register(context: EngineContext): Promise<void> {
  const { session, worker, timings, backgroundTasks } = context;
  return new Promise((resolve) => {
    const beat = (): Promise<void> => saveHeartbeat(session, worker).then(resolve);
    backgroundTasks.push(repeatTask(context, 'the heartbeat', timings.heartbeatMs, beat));
  });
}

function startQueue(context: EngineContext, queue: WorkQueue): void {
  const { notifier, timings, stop } = context;
  const onEnd = (): void => {
    if (dispatcher.hasRoom()) poll.wake();
  };
  const pool = createWorkerPool(queue, createWorkLog(context, `work on ${queue.name}`), stop.signal, onEnd);
  const dispatcher = createDispatcher(queue, pool, context);
  notifier.subscribe(queue, (ref) => pool.run(ref));
  const poll = repeatTask(context, `polling ${queue.name}`, timings.pollMs, () => dispatcher.poll());
  const releaseStale = (): Promise<void> => queue.releaseStaleClaims(pool.has);
  const takeOver = repeatTask(context, `taking over ${queue.name}`, timings.takeOverMs, releaseStale);
  context.pools.push(pool);
  context.polls.set(queue.name, poll);
  context.backgroundTasks.push(takeOver);
}

async function shutDown(context: EngineContext): Promise<void> {
  const { clock, timings, notifier, pools, stop, closing, polls, backgroundTasks, session, worker } = context;
  closing.abort();
  const work = Promise.all([...pools.map((pool) => pool.close()), notifier.close()]);
  const stopped = Promise.all([...polls.values(), ...backgroundTasks].map((task) => task.stop()));
  const isLate = (await withTimeout(clock, timings.graceMs, work)) === TIMED_OUT_RESULT;
  if (isLate) stop.abort();
  await Promise.all([work, stopped]);
  if (isLate) return; // Work that was cut off may have left claimed rows: others take them over by this process's row.
  await removeWorker(session, worker.owner).catch(createWorkLog(context, 'leaving the workers').failed);
}
