import type { WorkRef } from '../lib/work-queue.ts';
import type { Timings } from './timings.ts';

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
  /** Whether this is the first poll of the process. */
  readonly isFirstPoll: boolean;
}

/** Notify the row, notify it under a new epoch, work it without the queue, or leave it alone. */
export type Dispatch = 'notify' | 'raise' | 'work' | 'wait';

/**
 * Decides what to do about a due row.
 *
 * At the first poll a due row may still have a job that a dead worker took. BullMQ drops a second job with the same id, so
 * the epoch is raised to get a new id.
 *
 * While all workers are busy, a waiting row says nothing about the queue: it is notified once and then left alone.
 */
export function decideDispatch({ ref, state, now, free, isFirstPoll }: DueRow, timings: Timings): Dispatch {
  if (state === undefined) return isFirstPoll ? 'raise' : 'notify';
  if (free > 0 && isUnanswered(state, now, timings)) return 'work';
  if (state.epoch !== ref.epoch) return 'notify'; // Another process raised the epoch, and may have died before it notified.
  const silence = now - state.lastAt;
  if (!state.sent) return silence >= timings.pollMs ? 'notify' : 'wait';
  return free > 0 && silence >= timings.renotifyMs ? 'raise' : 'wait';
}

function isUnanswered({ sent, times, firstAt }: NotifyState, now: number, timings: Timings): boolean {
  return times >= 2 && now - firstAt >= (sent ? timings.fallbackMs : timings.unsentFallbackMs);
}

/** The state of a row that was notified a moment ago. */
export function afterNotification(
  state: NotifyState | undefined,
  { epoch, now, sent }: { readonly epoch: number; readonly now: number; readonly sent: boolean },
): NotifyState {
  return { epoch, firstAt: state?.firstAt ?? now, lastAt: now, sent, times: (state?.times ?? 0) + 1 };
}

/** The state of a row that is worked without the queue: if it is still due afterwards, the waiting times start again. */
export function afterFallback(state: NotifyState, now: number): NotifyState {
  return { ...state, firstAt: now, lastAt: now, times: 1 };
}
