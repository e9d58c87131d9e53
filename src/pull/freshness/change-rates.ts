/** A change of a record, as far as rates are counted. */
export interface CountedChange {
  readonly change: 'created' | 'updated' | 'deleted';
  readonly id: string;
  readonly atMs: number;
}

/**
 * How often a list has changed: counts in which an event weighs half after each half-life.
 *
 * Weights are relative to `sinceMs`, so that counting an event changes no other number.
 */
export interface ChangeHistory {
  /** Changes are counted from this instant on. */
  readonly sinceMs: number;
  readonly updated: readonly { readonly id: string; readonly weight: number }[];
  readonly created: number;
  readonly deleted: number;
}

/** Estimated changes of a list in a minute. */
export interface ChangeRates {
  /** Updates of the records of a page. */
  readonly ofPage: (page: number) => number;
  readonly created: number;
  readonly deleted: number;
}

const MINUTE_MS = 60_000;
/** Long enough to tell busy pages from quiet ones, and short enough to follow their changes. */
const HALF_LIFE_MS = 12 * 3_600_000;
/** The assumption before anything is known: so many events of a page, at the mean rate of its list. */
const PRIOR_EVENTS = 0.5;
/** The time in which a list without a history is taken to have had one update, and half a new record. */
const [PRIOR_LIST_MINUTES, PRIOR_PLACE_MINUTES] = [60, 30];

export function startHistory(sinceMs: number): ChangeHistory {
  return { sinceMs, updated: [], created: 0, deleted: 0 };
}

/** The weight of an event beside one at the beginning of a history. */
export const weightAt = ({ sinceMs }: Pick<ChangeHistory, 'sinceMs'>, atMs: number): number =>
  2 ** ((atMs - sinceMs) / HALF_LIFE_MS);

/** Counts changes. */
export function countChanges(history: ChangeHistory, changes: readonly CountedChange[]): ChangeHistory {
  const updated = [...history.updated];
  let { created, deleted } = history;
  for (const { change, id, atMs } of changes) {
    const weight = weightAt(history, atMs);
    if (change === 'created') created += weight;
    else if (change === 'deleted') deleted += weight;
    else updated.push({ id, weight });
  }
  return { ...history, updated, created, deleted };
}

/**
 * Estimates how often the pages of a list change: Poisson rates, drawn towards the mean of the list while little is known.
 *
 * @param pages Pages that the list has.
 */
export function ratesOf(
  { history, updatedByPage }: { readonly history: ChangeHistory; readonly updatedByPage: readonly number[] },
  pages: number,
  nowMs: number,
): ChangeRates {
  const decay = 1 / weightAt(history, nowMs);
  const watched = weightedMinutes(nowMs - history.sinceMs);
  const all = decay * updatedByPage.reduce((sum, count) => sum + count, 0);
  const mean = (all + 1) / (Math.max(1, pages) * (watched + PRIOR_LIST_MINUTES));
  const denominator = watched + PRIOR_EVENTS / mean;
  const placeRate = (count: number): number =>
    (decay * count + PRIOR_EVENTS) / (watched + PRIOR_PLACE_MINUTES);
  return {
    ofPage: (page) => (decay * (updatedByPage[page - 1] ?? 0) + PRIOR_EVENTS) / denominator,
    created: placeRate(history.created),
    deleted: placeRate(history.deleted),
  };
}

/** The minutes of a time, weighted as the events in it are. */
function weightedMinutes(ms: number): number {
  const share = 1 - 2 ** (-Math.max(0, ms) / HALF_LIFE_MS);
  return (share * HALF_LIFE_MS) / Math.LN2 / MINUTE_MS;
}

/** How many readings of its page have found a record changed, one after the other, and when the last of them did. */
interface ChangeStreak {
  readonly readings: number;
  readonly lastMs: number;
}

/** The records that the last reading of their page, by a sweep or between two, has found changed. */
export type ChangeStreaks = ReadonlyMap<string, ChangeStreak>;

/** From so many readings on, a record counts as restless: it holds a counter, or a time at which it was last seen. */
const RESTLESS_FROM = 3;

export const isRestless = (streaks: ChangeStreaks, id: string): boolean =>
  (streaks.get(id)?.readings ?? 0) >= RESTLESS_FROM;

/** Counts updates in a row. @param readMsOf When the page of a record was read last, before these changes were found. */
export function countStreaks(
  before: ChangeStreaks,
  found: readonly CountedChange[],
  readMsOf: (id: string) => number | null,
): ChangeStreaks {
  const streaks = new Map([...before].filter(([id, { lastMs }]) => lastMs >= (readMsOf(id) ?? Infinity)));
  for (const { change, id, atMs } of found)
    if (change === 'updated')
      streaks.set(id, { readings: (streaks.get(id)?.readings ?? 0) + 1, lastMs: atMs });
  return streaks;
}

/** Without the updates of restless records: they tell how often a page is read, not how often it changes. */
export const withoutRestless = (
  changes: readonly CountedChange[],
  streaks: ChangeStreaks,
): readonly CountedChange[] =>
  changes.filter(({ change, id }) => change !== 'updated' || !isRestless(streaks, id));
