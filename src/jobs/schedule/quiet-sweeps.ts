import { countChangesByHour, readMovingKinds } from '../../mirror/kinds/uncertified-store.ts';
import { requestSlot } from '../../mirror/runs/slot-requests.ts';
import { createFaultLog } from '../fault-log.ts';
import { quietestHour } from './quietest-hour.ts';
import { repeat } from '../repeat.ts';
import type { ScheduleParts } from './schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HISTORY_DAYS = 7;
const CHECK_MS = 60_000;

/** Requests one more sweep a day of each list that moves, at its quietest hour. Returns a function that stops it. */
export function startQuietSweeps(parts: ScheduleParts, kinds: readonly string[]): () => Promise<void> {
  const faults = createFaultLog(parts);
  const check = createQuietCheck(parts, kinds);
  const task = async (): Promise<void> => {
    try {
      await check();
    } catch (error) {
      faults('asking for sweeps at quiet hours', error); // The next check tries again.
    }
  };
  const ticking = repeat({ clock: parts.clock, everyMs: CHECK_MS, task });
  return () => ticking.stop();
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
  const wish = { schedule: `quiet_${kind}`, slot, kinds: [kind], pages: null, now, isDead };
  const end = await session.atomically((tx) => requestSlot(tx, wish));
  if (end.is === 'requested')
    logger.info({ ...end, kind, hour }, 'a list that moves is read once more at its quietest hour');
}
