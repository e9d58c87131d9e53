import { createFaultLog } from '../../lib/log/fault-log.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { repeat, type Repeating } from '../../lib/log/repeat.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { LATE, within } from '../../lib/time/deadline.ts';
import type { WorkQueue } from '../../lib/work-queue.ts';
import { registerWorker, removeWorker, seeWorker, type Worker } from '../../store/runs/worker-store.ts';
import { isAway } from '../../db/session/errors.ts';
import type { Session } from '../../db/session/session.ts';
import { createDispatcher } from './dispatcher.ts';
import type { Notifier } from './notifier.ts';
import { TIMINGS, type Timings } from './timings.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

interface EngineParts {
  readonly queues: readonly WorkQueue[];
  readonly notifier: Notifier; // The engine closes it.
  readonly session: Session;
  /** This process's row in the table `workers`: other processes take its rows over once it is not seen any more. */
  readonly worker: Worker;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timings?: Partial<Timings>;
}

export interface Engine extends AsyncDisposable {
  /** Polls for due rows now, of all queues or of one; call it after this process has inserted one. */
  readonly wake: (queue?: string) => void;
  /** Takes no more work and waits for the work that runs; after the grace period, tells it to stop. */
  readonly close: () => Promise<void>;
}

/** Starts to find due rows, notify them, work them, and take over the rows of dead processes. */
export function startEngine(parts: EngineParts): Engine {
  const context = contextOf(parts);
  const begun = begin(context);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= shutDown(context, begun));
  return {
    wake: (queue) => {
      for (const [name, poll] of context.polls) if (queue === undefined || queue === name) poll.wake();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type EngineContext = ReturnType<typeof contextOf>;

const contextOf = (parts: EngineParts) => ({
  ...parts,
  timings: { ...TIMINGS, ...parts.timings },
  faults: createFaultLog({ ...parts, isTold: isAway }),
  stop: new AbortController(), // Aborted when running work must stop.
  closing: new AbortController(), // Aborted when no more work is taken.
  pools: [] as WorkerPool[],
  polls: new Map<string, Repeating>(),
  chores: [] as Repeating[],
});

/** Registers this process, retrying as long as the database is away, and starts its queues. */
async function begin(context: EngineContext): Promise<void> {
  const { session, worker, clock, timings, faults, closing } = context;
  for (let isRegistered = false; !isRegistered;) {
    if (closing.signal.aborted) return;
    try {
      await registerWorker(session, worker, clock.now());
      isRegistered = true;
    } catch (error) {
      faults('registering this process', error);
      await clock.sleep(timings.pollMs);
    }
  }
  for (const queue of context.queues) startQueue(context, queue);
  const task = (): Promise<void> => seeWorker(session, worker, clock.now());
  context.chores.push(repeat({ ...context, everyMs: timings.heartbeatMs, name: 'the heartbeat', task }));
}

function startQueue(context: EngineContext, queue: WorkQueue): void {
  const { notifier, timings, faults, stop } = context;
  const onEnd = (): void => {
    if (dispatcher.hasRoom()) poll.wake();
  };
  const pool = createWorkerPool(queue, faults, stop.signal, onEnd);
  const dispatcher = createDispatcher({ ...context, queue, pool });
  notifier.subscribe(queue, (ref) => pool.run(ref));
  const every = (everyMs: number, name: string, task: () => Promise<void>): Repeating =>
    repeat({ ...context, everyMs, name: `${name} ${queue.name}`, task });
  const poll = every(timings.pollMs, 'polling', () => dispatcher.poll());
  context.pools.push(pool);
  context.polls.set(queue.name, poll);
  context.chores.push(every(timings.takeOverMs, 'taking over', () => queue.takeOver()));
}

async function shutDown(context: EngineContext, begun: Promise<void>): Promise<void> {
  const { clock, timings, notifier, pools, stop, closing, polls, chores, session, worker, faults } = context;
  closing.abort();
  await begun;
  const work = Promise.all([...pools.map((pool) => pool.close()), notifier.close()]);
  const stopped = Promise.all([...polls.values(), ...chores].map((each) => each.stop()));
  const isLate = (await within(clock, timings.graceMs, work)) === LATE;
  if (isLate) stop.abort();
  await Promise.all([work, stopped]);
  if (isLate) return; // Work that was cut off may have left claimed rows: others take them over by this process's row.
  await removeWorker(session, worker.owner).catch((error: unknown) => {
    faults('leaving the workers', error);
  });
}
