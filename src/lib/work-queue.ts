/** A row that may be claimed, and the epoch that it must still have. */
export interface WorkRef {
  readonly id: number;
  readonly epoch: number;
}

/** A table of work rows, as a dispatcher sees it. The row is the truth; a notification only says where to look. */
export interface WorkQueue {
  /** Letters only: `outbox`. */
  readonly name: string;
  /** The beginning of its job ids: `ob`. Letters only. */
  readonly jobPrefix: string;
  /** How many rows this process works at once. */
  readonly concurrency: number;
  /** Rows that are due and that no process works on, oldest first. */
  due(limit: number): Promise<readonly WorkRef[]>;
  /** Raises the epoch of a row whose notification seems lost; null where the row is no longer due with that epoch. */
  raise(ref: WorkRef): Promise<WorkRef | null>;
  /**
   * Claims the row by compare-and-set and works it to its next resting state; does nothing where it is not due with this epoch.
   *
   * @throws Only on bugs and lost databases.
   * @param signal Fires when the process must end and its grace period is over.
   */
  work(ref: WorkRef, signal: AbortSignal): Promise<void>;
  /** Frees the rows of owners that are gone. */
  releaseStaleClaims(): Promise<void>;
}
