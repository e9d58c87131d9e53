/** Says that a row is due: no more than its number and how often it was rung before. */
export interface Ring {
  readonly id: number;
  readonly epoch: number;
}

/** A table of work rows, as the engine sees it. The row is the truth; a ring only says where to look. */
export interface WorkQueue {
  /** Letters only: `outbox`. */
  readonly name: string;
  /** What the ids of its jobs begin with: `ob`. Letters only. */
  readonly jobPrefix: string;
  /** How many rows this process works at once. */
  readonly concurrency: number;
  /** Rows that are due and that nobody works on, oldest first. */
  due(limit: number): Promise<readonly Ring[]>;
  /** Raises the epoch of a row whose ring seems lost; null where it is no longer due with that epoch. */
  raise(ring: Ring): Promise<Ring | null>;
  /**
   * Claims by compare-and-set and works the row to its next resting state; returns quietly where it is not due with this
   * epoch. Throws only on bugs and lost databases. The signal comes when the process must end and its grace has run out.
   */
  work(ring: Ring, signal: AbortSignal): Promise<void>;
  /** Frees rows of owners that are gone. */
  takeOver(): Promise<void>;
}
