import type { OutboundRules } from '../parts.ts';

type LookRules = Pick<OutboundRules, 'settleSeconds' | 'patienceSeconds' | 'lookScheduleSeconds'>;

/** Where the looks for a send stand, in milliseconds since it was given up. */
interface LookTimes {
  /** The latest look that is due by now, which a list must be known since; null = none is yet. */
  readonly due: number | null;
  /** When to look next. */
  readonly next: number;
}

/**
 * Finds out which looks for a send are due and when the next one is: after the rest, at the times of the schedule, when
 * patience ends, and from then on as often as patience lasts, an hour at least.
 */
export function lookTimes(elapsedMs: number, rules: LookRules): LookTimes {
  const [rest, patience] = [rules.settleSeconds * 1000, rules.patienceSeconds * 1000];
  const times = [rest, ...rules.lookScheduleSeconds.map((seconds) => seconds * 1000), patience]
    .filter((time) => time >= rest)
    .sort((a, b) => a - b);
  const due = times.filter((time) => time <= elapsedMs).at(-1) ?? null;
  const next = times.find((time) => time > elapsedMs);
  return { due, next: next ?? elapsedMs + Math.max(patience, 3_600_000) };
}
