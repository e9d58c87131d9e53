import { CronExpressionParser } from 'cron-parser';
import type { CronExpression } from 'cron-parser';

interface SlotQuestion {
  /** A cron expression of five fields. */
  readonly cron: string;
  readonly timezone: string;
  /** Slots up to here are handled. */
  readonly lastSlot: Date;
  readonly now: Date;
}

const HOUR_MS = 3_600_000;

/**
 * Finds the latest slot after `lastSlot`, up to `now`; null if there is none. Earlier missed slots are not made up for.
 *
 * cron-parser moves a local time that the clocks skip to an hour later, and takes one that they show twice the first time,
 * but only walking forward: hence ever longer walks up to now instead of one step back.
 */
export function dueSlot({ cron, timezone, lastSlot, now }: SlotQuestion): Date | null {
  const [last, until] = [lastSlot.getTime(), now.getTime()];
  for (let hours = 1; ; hours *= 8) {
    const from = Math.max(last, until - hours * HOUR_MS);
    const slot = latestWithin(parse(cron, timezone, from), until);
    if (slot !== null) return new Date(slot);
    if (from <= last) return null;
  }
}

function latestWithin(walk: CronExpression, until: number): number | null {
  let slot: number | null = null;
  for (let next = walk.next().getTime(); next <= until; next = walk.next().getTime()) slot = next;
  return slot;
}

/** Finds the next slot after an instant. */
export function nextSlot(cron: string, timezone: string, after: Date): Date {
  return parse(cron, timezone, after.getTime()).next().toDate();
}

const parse = (cron: string, timezone: string, from: number): CronExpression =>
  CronExpressionParser.parse(cron, { currentDate: new Date(from), tz: timezone });
