import type { Ring, WorkQueue } from './work-queue.ts';

/**
 * What became of a heartbeat: it came back, could not while all hands were full, was taken by the bell and never came
 * back, or could not even be sent.
 */
export type Beat = 'heard' | 'busy' | 'lost' | 'unsent';

/** Tells workers that rows are due. It may lose rings, double them, or be silent for days: the engine copes. */
export interface Bell {
  /** Best effort, capped, never throws, never hangs; false where the bell could not be rung. */
  ring(queue: WorkQueue, rings: readonly Ring[]): Promise<boolean>;
  /** Starts to hand rings to `onRing`, at most `queue.concurrency` at once. */
  listen(queue: WorkQueue, onRing: OnRing): Promise<void>;
  /** Sends a heartbeat the way that rings go and waits for it a while. */
  beat(): Promise<Beat>;
  /** Replaces what did not hear the last beat: workers and connections. Rings in hand go on. */
  restart(): Promise<void>;
  /** The queue's own figures, as Prometheus reads them; none where there is no queue. Throws where they cannot be had. */
  readonly metrics?: () => Promise<string>;
  /** Takes no more rings and waits for those in hand. */
  close(): Promise<void>;
}

/** Works a ring; never throws. */
export type OnRing = (ring: Ring) => Promise<void>;
