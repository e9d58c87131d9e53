/** How many changes of a kind were seen in each hour of the day, over some days. */
interface HourlyChanges {
  /** Twenty-four counts; the first is of the hour that begins at midnight UTC. */
  readonly counts: readonly number[];
  /** Days on which a change was seen. */
  readonly days: number;
}

const FEWEST_DAYS = 2;
const HOURS = 24;

/**
 * The hour of the day (UTC, 0 to 23) in which a kind changes least; null if its history does not show one.
 *
 * It shows one if changes were seen on at least two days, and that hour has less than half of the mean number of changes.
 * Of equal hours the one with quieter neighbours counts: it is further from the busy ones.
 */
export function quietestHour({ counts, days }: HourlyChanges): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (days < FEWEST_DAYS || total === 0 || counts.length !== HOURS) return null;
  const at = (hour: number): number => counts[(hour + HOURS) % HOURS] ?? 0;
  const around = (hour: number): number => at(hour - 2) + 2 * at(hour - 1) + 2 * at(hour + 1) + at(hour + 2);
  const hours = counts.map((_count, hour) => hour);
  const [quietest = 0] = hours.sort((a, b) => at(a) - at(b) || around(a) - around(b) || a - b);
  return 2 * at(quietest) < total / HOURS ? quietest : null;
}
