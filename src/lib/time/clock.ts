import { hostname, uptime } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { processNamespace } from '../process-id.ts';

/** The source of time, so that a test can control it. */
export interface Clock {
  now(): Date;
  /** Milliseconds that never run backwards; only differences mean anything. */
  monotonicMs(): number;
  /** Milliseconds since the machine started, and which start that was; absent = only `monotonicMs`. */
  machine?(): { readonly boot: string; readonly upMs: number };
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1; // A longer timer fires at once.

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  machine: () => ({ boot: processNamespace() ?? hostname(), upMs: uptime() * 1000 }),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    try {
      for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
        await delay(Math.min(left, LONGEST_TIMER_MS), undefined, signal && { signal });
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};

/** A sleep that the signal ends early without an error; callers check the signal themselves. */
export async function sleepUnlessStopped(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}

/** Writes an instant as the mirror stores it: UTC `YYYY-MM-DD HH:MM:SS.SSS`, which every BI client reads. */
export function formatInstant(instant: Date): string {
  return instant.toISOString().replace('T', ' ').replace('Z', '');
}

/** Reads an instant that `formatInstant` wrote. */
export function parseInstant(text: string): Date {
  return new Date(`${text.replace(' ', 'T')}Z`);
}

/** Writes a stored instant as JSON shows it: `2026-11-29T00:54:06.966Z`. One in that form stays as it is. */
export const formatRfc3339 = (stored: string): string =>
  stored.includes('T') ? stored : `${stored.replace(' ', 'T')}Z`;

const CLOCK_TOLERANCE_MS = 300_000;

/** Whether a stored instant lies so far in the future that a clock that was ahead wrote it: such an instant does not count. */
export const isFromFastClock = (stored: string, now: Date): boolean =>
  stored > formatInstant(latestPlausible(now));

export const latestPlausible = (now: Date): Date => new Date(now.getTime() + CLOCK_TOLERANCE_MS);

/** A length of time for a person: `31 s`, `4 min`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;

/** True for a day that exists, `YYYY-MM-DD`, years 0001 to 9999. */
export function isCalendarDate(text: string): boolean {
  if (!DATE.test(text) || text < '0001') return false;
  return new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8)); // A Date rolls 30 February into March.
}

/** True for `HH:MM:SS` from 00:00:00 to 23:59:59. */
export function isClockTime(text: string): boolean {
  return TIME.test(text);
}

const SPELLED_TIME = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?$/;
/** The end of a day as `readClockTime` returns it: it is no time of that day. */
export const END_OF_DAY = '24:00:00';

/** Reads a time of day in any spelling, `9:05` or `09:05:00.000`, as `HH:MM:SS`; null if it is none. */
export function readClockTime(text: string): string | null {
  const [, hours = '', minutes = '', seconds = '00'] = SPELLED_TIME.exec(text) ?? [];
  const time = `${hours.padStart(2, '0')}:${minutes}:${seconds}`;
  if (time === END_OF_DAY || time === '23:59:60') return END_OF_DAY;
  return isClockTime(time) ? time : null;
}
