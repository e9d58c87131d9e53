import type { CountedChange } from './change-rates.ts';

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
