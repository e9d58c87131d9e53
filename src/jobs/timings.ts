/** How often the engine does what, in milliseconds; tests pass smaller figures. */
export const TIMINGS = {
  /** Between two polls for due rows. */
  pollMs: 1_000,
  /** How many due rows a poll reads. */
  batch: 100,
  /** A notification counts as lost after this time. */
  renotifyMs: 15_000,
  /** A row that was notified and that no process has claimed is worked without the queue after this time. */
  fallbackMs: 60_000,
  /** The same where the notification could not even be sent. */
  unsentFallbackMs: 15_000,
  /** The longest that a notification may take. */
  notifyMs: 2_000,
  /** A queue connection that broke is not opened again sooner than this. */
  reopenMs: 5_000,
  /** Between two searches for rows of dead owners. */
  takeOverMs: 5_000,
  /** Between two heartbeats of this process in the table `workers`. */
  heartbeatMs: 5_000,
  /** How long work may go on after `close`; then its signal fires. */
  graceMs: 25_000,
};

export type Timings = Readonly<typeof TIMINGS>;
