/** A row that may be claimed, and the epoch that it must still have. */
export interface WorkRef {
  readonly id: number;
  readonly epoch: number;
}

/** A row that is due, and what is to be done with it: `create clients`. Queues show that, so it holds nothing of a record. */
export interface DueWork extends WorkRef {
  readonly task: string;
}

/** A row's state after work on it, and the code of why; null where there was nothing to do. */
export type WorkResult = {
  readonly state: string;
  readonly verdict: string | null;
  /** Whether an attempt did not succeed. Work that was only put off has not failed. */
  readonly hasFailed: boolean;
} | null;

/** A table of work rows, as a dispatcher sees it. The row is the truth; a notification only says where to look. */
export interface WorkQueue {
  /** Letters only: `outbox`. */
  readonly name: string;
  /** How many rows this process works at once. */
  readonly concurrency: number;
  /** Rows that are due and that no process works on, oldest first. */
  due(limit: number): Promise<readonly DueWork[]>;
  /** Raises the epoch of a row whose notification seems lost; null where the row is no longer due with that epoch. */
  raise(ref: WorkRef): Promise<WorkRef | null>;
  /**
   * Claims the row by compare-and-set and works it to its next resting state; does nothing where it is not due with this epoch.
   *
   * @throws Only on bugs and lost databases.
   * @param signal Fires when the process must end and its grace period is over.
   */
  work(ref: WorkRef, signal: AbortSignal): Promise<WorkResult>;
  /** Frees the rows of owners that are gone. @param isRunning Whether this process is working on a row. */
  releaseStaleClaims(isRunning: (id: number) => boolean): Promise<void>;
}
