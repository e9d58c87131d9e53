import type { Clock } from '../lib/clock.ts';
import type { WorkQueue, WorkRef } from '../lib/work-queue.ts';
import type { Notifier } from './notifier.ts';
import { afterFallback, afterNotification, decideDispatch } from './redelivery.ts';
import type { NotifyState } from './redelivery.ts';
import type { Timings } from './timings.ts';
import type { WorkerPool } from './worker-pool.ts';

interface DispatcherParts {
  readonly queue: WorkQueue;
  readonly notifier: Notifier;
  readonly pool: WorkerPool;
  readonly clock: Clock;
  readonly timings: Timings;
}

/** Polls one queue's due rows and notifies them. */
interface Dispatcher {
  poll(): Promise<void>;
  /** Called after each worked row; true if a poll now would find more rows than the last one could read. */
  hasRoom(): boolean;
}

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { queue, pool, clock, timings } = parts;
  const states = new Map<number, NotifyState>();
  let isFirstPoll = true; // Until one has succeeded.
  let isFull = false;
  let worked = 0;

  /** The reference to notify; null if the row is left alone or worked here. */
  const dispatch = async (ref: WorkRef, free: number): Promise<WorkRef | null> => {
    if (pool.has(ref.id)) return null;
    const state = states.get(ref.id);
    const now = clock.monotonicMs();
    const decision = decideDispatch({ ref, state, now, free, isFirstPoll }, timings);
    if (decision === 'work' && state !== undefined) {
      states.set(ref.id, afterFallback(state, now));
      void pool.run(ref);
    }
    if (decision === 'raise') return queue.raise(ref);
    return decision === 'notify' ? ref : null;
  };

  return {
    poll: async () => {
      const due = await queue.due(timings.batch);
      [isFull, worked] = [due.length === timings.batch, 0];
      forgetAllBut(states, due);
      const free = pool.free(); // Before this poll gives the pool work: all its rows may wait for a worker.
      const refs: WorkRef[] = [];
      for (const row of due) {
        const ref = await dispatch(row, free);
        if (ref !== null) refs.push(ref);
      }
      isFirstPoll = false;
      if (refs.length > 0) await notify(parts, states, refs);
    },
    hasRoom: () => {
      worked += 1;
      return isFull && worked >= timings.batch / 2;
    },
  };
}

async function notify(
  { queue, notifier, clock }: DispatcherParts,
  states: Map<number, NotifyState>,
  refs: readonly WorkRef[],
): Promise<void> {
  const sent = await notifier.notify(queue, refs);
  const now = clock.monotonicMs();
  for (const { id, epoch } of refs) states.set(id, afterNotification(states.get(id), { epoch, now, sent }));
}

/** A row that is no longer due was claimed; if it is due again later, it starts without a state. */
function forgetAllBut(states: Map<number, NotifyState>, due: readonly WorkRef[]): void {
  const ids = new Set(due.map(({ id }) => id));
  for (const id of states.keys()) if (!ids.has(id)) states.delete(id);
}
