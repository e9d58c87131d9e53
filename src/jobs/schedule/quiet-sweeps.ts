import { countChangesByHour, readMovingKinds } from '../../mirror/kinds/status-store.ts';
import { requestSlot } from '../../mirror/runs/slot-requests.ts';
import type { ScheduleParts } from '../schedule.ts';
import { startCheck } from '../schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HISTORY_DAYS = 7;
const CHECK_MS = 60_000;

/** Requests one more sweep a day of each list that moves, at its quietest hour. Returns a function that stops it. */
export function startQuietSweeps(parts: ScheduleParts, kinds: readonly string[]): () => Promise<void> {
  return startCheck(parts, {
    everyMs: CHECK_MS,
    name: 'asking for sweeps at quiet hours',
    task: createQuietCheck(parts, kinds),
  });
}

/** Creates the check that finds out, once an hour, whether this is the quietest hour of a kind whose list moves. */
export function createQuietCheck(parts: ScheduleParts, kinds: readonly string[]): () => Promise<void> {
  let checked: number | null = null;
  return async () => {
    const now = parts.clock.now();
    const hour = Math.floor(now.getTime() / HOUR_MS);
    if (hour === checked) return;
    for (const kind of await readMovingKinds(parts.session))
      if (kinds.includes(kind)) await askIfQuiet(parts, kind, now);
    checked = hour;
  };
}

async function askIfQuiet(
  { session, logger, isDead }: ScheduleParts,
  kind: string,
  now: Date,
): Promise<void> {
  const since = new Date(now.getTime() - HISTORY_DAYS * DAY_MS);
  const hour = quietestHour(await countChangesByHour(session, kind, since));
  if (hour === null || hour !== now.getUTCHours()) return;
  // One a day, however the quietest hour shifts: the slot is the day.
  const slot = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  const request = { schedule: `quiet_${kind}`, slot, kinds: [kind], pages: null, now, isDead };
  const end = await session.atomically((tx) => requestSlot(tx, request));
  if (end.is === 'requested')
    logger.info({ ...end, kind, hour }, 'a list that moves is read once more at its quietest hour');
}

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
