import type { MirrorContext } from '../../db/mirror-context.ts';
import type { DueWork, WorkQueue, WorkRef } from '../../lib/work-queue.ts';
import { readMeta } from '../../store/kinds/meta.ts';
import type { Notifier } from './notifier.ts';
import type { Timings } from './timings.ts';
import type { WorkerPool } from './worker-pool.ts';

type DispatcherContext = MirrorContext & { readonly notifier: Notifier; readonly timings: Timings };

/** Polls one queue's due rows and notifies them. */
export function createDispatcher(queue: WorkQueue, pool: WorkerPool, context: DispatcherContext) {
  const { session, notifier, clock, timings } = context;
  const states = new Map<number, NotifyState>();
  let isFirstPoll = true; // Until one has succeeded.
  let isFull = false;
  let worked = 0;

  /** The row to notify, with its present epoch; null if it is left alone or worked here. */
  const dispatch = async (ref: DueWork, free: number): Promise<DueWork | null> => {
    if (pool.has(ref.id)) return null;
    const state = states.get(ref.id);
    const now = clock.monotonicMs();
    const decision = decideDispatch({ ref, state, now, free, isFirstPoll }, timings);
    if (decision === 'work' && state !== undefined) {
      states.set(ref.id, afterFallback(state, now));
      void pool.run(ref);
    }
    if (decision === 'notify') return ref;
    const raised = decision === 'raise' ? await queue.raise(ref) : null;
    return raised && { ...ref, ...raised };
  };
  return {
    poll: async (): Promise<void> => {
      const due = await queue.due(timings.batch);
      isFull = due.length === timings.batch;
      worked = 0;
      // A row that is no longer due was claimed; if it is due again later, it starts without a state.
      const ids = new Set(due.map((ref) => ref.id));
      for (const id of states.keys()) if (!ids.has(id)) states.delete(id);
      const free = pool.free(); // Before this poll gives the pool work: all its rows may wait for a worker.
      const dispatched: (DueWork | null)[] = [];
      for (const row of due) dispatched.push(await dispatch(row, free));
      isFirstPoll = false;
      const rows = dispatched.filter((row) => row !== null);
      if (rows.length === 0) return;
      const log = (await readMeta(session, 'log')) ?? ''; // Read each time: `outbox resume` may have renewed it.
      const sent = await notifier.notify(queue, rows, log);
      const now = clock.monotonicMs();
      for (const { id, epoch } of rows) states.set(id, afterNotification(states.get(id), epoch, now, sent));
    },
    /** Called after each worked row; true if a poll now would find more rows than the last one could read. */
    hasRoom: (): boolean => {
      worked += 1;
      return isFull && worked >= timings.batch / 2;
    },
  };
}

/** When this process notified a row since it became due; instants are of a monotonic clock. */
export interface NotifyState {
  readonly epoch: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Whether the notifier took the last notification. */
  readonly sent: boolean;
  readonly times: number;
}

interface DueRow {
  readonly ref: WorkRef;
  /** Undefined where this process has not notified the row yet. */
  readonly state: NotifyState | undefined;
  readonly now: number;
  /** How many workers of the pool have nothing to do. */
  readonly free: number;
  readonly isFirstPoll: boolean;
}

/** Notify the row, notify it under a new epoch, work it without the queue, or leave it alone. */
export type Dispatch = 'notify' | 'raise' | 'work' | 'wait';

/**
 * Decides what to do about a due row.
 *
 * At the first poll a due row may still have a job that a dead worker took. BullMQ drops a second job with the same id, so
 * the epoch is raised to get a new id. While all workers are busy, a waiting row proves nothing about the queue: it is notified
 * once and then left alone.
 */
export function decideDispatch(row: DueRow, timings: Timings): Dispatch {
  const { ref, state, now, free, isFirstPoll } = row;
  if (state === undefined) return isFirstPoll ? 'raise' : 'notify';
  const { sent, times, firstAt } = state;
  const fallbackMs = sent ? timings.fallbackMs : timings.unsentFallbackMs;
  if (free > 0 && times >= 2 && now - firstAt >= fallbackMs) return 'work';
  if (state.epoch !== ref.epoch) return 'notify'; // Another process raised the epoch, and may have died before it notified.
  const silence = now - state.lastAt;
  if (!sent) return silence >= timings.pollMs ? 'notify' : 'wait';
  return free > 0 && silence >= timings.renotifyMs ? 'raise' : 'wait';
}

/** The state of a row that was notified a moment ago. */
export function afterNotification(state: NotifyState | undefined, epoch: number, now: number, sent: boolean) {
  return { epoch, firstAt: state?.firstAt ?? now, lastAt: now, sent, times: (state?.times ?? 0) + 1 };
}

/** The state of a row that is worked without the queue: if it is still due afterwards, the waiting times start again. */
export function afterFallback(state: NotifyState, now: number): NotifyState {
  return { ...state, firstAt: now, lastAt: now, times: 1 };
}
