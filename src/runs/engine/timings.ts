/** The intervals and limits of the engine, in milliseconds; tests pass smaller figures. */
export const TIMINGS = {
  pollMs: 1_000, // Between two polls for due rows.
  batch: 100, // How many due rows a poll reads.
  renotifyMs: 15_000, // A notification counts as lost after this time.
  fallbackMs: 60_000, // A row that was notified and that no process has claimed is worked without the queue after this time.
  unsentFallbackMs: 15_000, // The same where the notification could not even be sent.
  notifyMs: 2_000, // The longest that a notification may take.
  reopenMs: 5_000, // A queue connection that broke is not opened again sooner than this.
  takeOverMs: 5_000, // Between two searches for rows of dead owners.
  heartbeatMs: 5_000, // Between two heartbeats of this process in the table `workers`.
  graceMs: 25_000, // How long work may go on after `close`; then its signal fires.
};

export type Timings = Readonly<typeof TIMINGS>;
