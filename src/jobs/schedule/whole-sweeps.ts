import { nextSlot } from './schedule.ts';
import type { Schedule } from './schedule.ts';

/** Milliseconds between the sweeps of a list, and when the next one is due. */
interface SweepTimes {
  readonly everyMs: number;
  readonly nextMs: number;
}

type Sweeps = SweepTimes | null;
type SweepSchedule = Pick<Schedule, 'cron' | 'timezone' | 'kinds' | 'pages'>;

/** When the schedules read the whole list of a kind next, and how often (null = never); computed again once that has come. */
export function wholeSweeps(schedules: readonly SweepSchedule[]): (kind: string, now: Date) => Sweeps {
  const whole = schedules.filter(({ pages }) => pages === null);
  const known = new Map<string, { readonly fromMs: number; readonly sweeps: Sweeps }>();
  return (kind, now) => {
    const before = known.get(kind);
    const nowMs = now.getTime();
    if (before !== undefined && nowMs >= before.fromMs && nowMs < (before.sweeps?.nextMs ?? Infinity))
      return before.sweeps;
    const sweeps = nextSweeps(
      whole.filter(({ kinds }) => kinds.includes(kind)),
      now,
    );
    known.set(kind, { fromMs: nowMs, sweeps });
    return sweeps;
  };
}

function nextSweeps(schedules: readonly SweepSchedule[], now: Date): Sweeps {
  let earliest: Sweeps = null;
  for (const { cron, timezone } of schedules) {
    const next = nextSlot(cron, timezone, now);
    const nextMs = next.getTime();
    if (earliest !== null && earliest.nextMs <= nextMs) continue;
    earliest = { nextMs, everyMs: nextSlot(cron, timezone, next).getTime() - nextMs };
  }
  return earliest;
}
