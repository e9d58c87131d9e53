/** How often the engine does what; a test hands in smaller figures. */
export interface Pace {
  /** Between two looks for due rows. */
  readonly lookMs: number;
  /** How many due rows a look takes in. */
  readonly window: number;
  /** A ring is taken for lost after this. */
  readonly ringAgainMs: number;
  /** A row that was rung and that nobody has claimed is worked without the bell after this. */
  readonly workHereMs: number;
  /** The same where the bell could not even be rung. */
  readonly unsentMs: number;
  /** The longest that ringing may take. */
  readonly ringMs: number;
  /** Between two heartbeats. */
  readonly beatMs: number;
  /** How long a heartbeat may take. */
  readonly beatWaitMs: number;
  /** A part of the bell that broke is not made anew sooner than this. */
  readonly reopenMs: number;
  /** Between two looks for rows of the dead. */
  readonly takeOverMs: number;
  /** Between two notes that this process lives. */
  readonly seeMs: number;
  /** How long work in hand may go on after `close`; then it is told to stop. */
  readonly graceMs: number;
}

export const PACE: Pace = {
  lookMs: 1_000,
  window: 100,
  ringAgainMs: 15_000,
  workHereMs: 60_000,
  unsentMs: 15_000,
  ringMs: 2_000,
  beatMs: 30_000,
  beatWaitMs: 10_000,
  reopenMs: 5_000,
  takeOverMs: 5_000,
  seeMs: 5_000,
  graceMs: 25_000,
};
