/** How often the engine does what, in milliseconds; tests pass smaller figures. */
export interface Timings {
  /** Between two polls for due rows. */
  readonly pollMs: number;
  /** How many due rows a poll reads. */
  readonly batch: number;
  /** A notification counts as lost after this time. */
  readonly renotifyMs: number;
  /** A row that was notified and that no process has claimed is worked without the queue after this time. */
  readonly fallbackMs: number;
  /** The same where the notification could not even be sent. */
  readonly unsentFallbackMs: number;
  /** The longest that a notification may take. */
  readonly notifyMs: number;
  /** A queue connection that broke is not opened again sooner than this. */
  readonly reopenMs: number;
  /** Between two searches for rows of dead owners. */
  readonly takeOverMs: number;
  /** Between two heartbeats of this process in the table `workers`. */
  readonly heartbeatMs: number;
  /** How long work may go on after `close`; then its signal fires. */
  readonly graceMs: number;
}

export const TIMINGS: Timings = {
  pollMs: 1_000,
  batch: 100,
  renotifyMs: 15_000,
  fallbackMs: 60_000,
  unsentFallbackMs: 15_000,
  notifyMs: 2_000,
  reopenMs: 5_000,
  takeOverMs: 5_000,
  heartbeatMs: 5_000,
  graceMs: 25_000,
};
