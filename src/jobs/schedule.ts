import type { Clock } from '../lib/clock.ts';
import type { Cron } from '../lib/cron.ts';
import type { Logger } from '../lib/logger.ts';
import type { Session } from '../mirror/session.ts';
import { readMark, requestSlot, writeMark } from '../mirror/slot-requests.ts';
import type { SlotEnd } from '../mirror/slot-requests.ts';
import { dueSlot } from './due-slot.ts';
import { createFaultLog } from './fault-log.ts';
import { repeat } from './repeat.ts';

/** When to ask for a run, and for which. */
export interface Schedule {
  /** Letters, digits and _. */
  readonly name: string;
  readonly cron: Cron;
  readonly timezone: string;
  readonly kinds: readonly string[];
  /** Only so many pages from the beginning of each list; null = whole lists. */
  readonly pages: number | null;
  /** Compares the kinds with the service in place of pulling them. */
  readonly verifies?: true;
}

export interface ScheduleParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Tells whether the process behind an owner is gone for certain. */
  readonly isDead: (owner: string) => boolean;
}

const LOOK_MS = 1_000;

/** Asks for the runs of schedules as they come due; several processes may do so at once. Returns what stops it. */
export function tickSchedules(parts: ScheduleParts, schedules: readonly Schedule[]): () => Promise<void> {
  const faults = createFaultLog(parts);
  const looks = schedules.map((schedule) => ({ schedule, look: createLook(parts, schedule) }));
  const task = async (): Promise<void> => {
    for (const { schedule, look } of looks) {
      try {
        await look();
      } catch (error) {
        faults(`asking for the run of the schedule ${schedule.name}`, error); // The next look tries again.
      }
    }
  };
  const ticking = repeat({ clock: parts.clock, everyMs: LOOK_MS, task });
  return () => ticking.stop();
}

/** So far the clocks of processes, or of one process, may go back without a slot coming due again. */
const BACK_MS = 60_000;

/** Makes what looks whether a schedule has come due since the look before, and asks for its run. */
export function createLook(parts: ScheduleParts, schedule: Schedule): () => Promise<void> {
  let dealtWith: Date | null = null;
  return async () => {
    const now = parts.clock.now();
    if (dealtWith === null || isFarBefore(now, dealtWith)) dealtWith = await startFrom(parts, schedule, now);
    if (now <= dealtWith) return;
    const slot = dueSlot({ ...schedule, lastSlot: dealtWith, now });
    if (slot !== null) await ask(parts, schedule, { slot, now });
    dealtWith = now;
  };
}

const isFarBefore = (now: Date, mark: Date): boolean => now.getTime() < mark.getTime() - BACK_MS;

/** Up to when slots are dealt with: a schedule begins at its first look, and again where a wrong clock was put right. */
async function startFrom({ session }: ScheduleParts, { name }: Schedule, now: Date): Promise<Date> {
  const mark = await readMark(session, name);
  if (mark !== null && !isFarBefore(now, mark)) return mark;
  await session.atomically((tx) => writeMark(tx, name, now));
  return now;
}

interface Due {
  readonly slot: Date;
  readonly now: Date;
}

async function ask(
  { session, logger, isDead }: ScheduleParts,
  { name, kinds, pages, verifies }: Schedule,
  due: Due,
): Promise<void> {
  const wish = { ...due, schedule: name, kinds, pages, isDead, ...(verifies && { verifies }) };
  const end = await session.atomically((tx) => requestSlot(tx, wish));
  if (end.is !== 'taken') logger.info({ ...end, schedule: name, slot: due.slot.toISOString() }, said(end));
}

function said(end: SlotEnd): string {
  return end.is === 'requested'
    ? 'a schedule has come due: its run is asked for'
    : 'a schedule has come due and gets no run: its kinds are asked for or being read already';
}
