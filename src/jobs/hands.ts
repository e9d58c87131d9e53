import type { FaultLog } from './fault-log.ts';
import { createSlots } from './slots.ts';
import type { Ring, WorkQueue } from './work-queue.ts';

export interface HandsParts {
  readonly queue: WorkQueue;
  readonly faults: FaultLog;
  /** Tells work in hand that its grace has run out. */
  readonly signal: AbortSignal;
  /** Called after each piece of work. */
  readonly onEnd: () => void;
}

/** What works one queue's rows, no more at once than the queue allows, whoever asks for it. */
export interface Hands {
  /** Works a row as soon as a hand is free; never throws. */
  work(ring: Ring): Promise<void>;
  has(id: number): boolean;
  free(): number;
  /** Takes no more work, and resolves once none is in hand. */
  close(): Promise<void>;
}

export function createHands({ queue, faults, signal, onEnd }: HandsParts): Hands {
  const slots = createSlots(queue.concurrency);
  const inHand = new Map<number, number>(); // Rows with their epochs.
  let isClosed = false;
  const work = async (ring: Ring): Promise<void> => {
    if (isClosed || inHand.get(ring.id) === ring.epoch) return;
    inHand.set(ring.id, ring.epoch);
    try {
      await queue.work(ring, signal);
    } catch (error) {
      faults(`work on ${queue.name}`, error); // The row is still due, or its owner's end frees it.
    }
    if (inHand.get(ring.id) === ring.epoch) inHand.delete(ring.id);
    onEnd();
  };
  return {
    work: (ring) => slots.run(() => work(ring)),
    has: (id) => inHand.has(id),
    free: () => slots.free(),
    close: () => {
      isClosed = true;
      return slots.idle();
    },
  };
}
