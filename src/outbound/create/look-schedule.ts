import type { OutboundRules } from '../parts.ts';

type LookRules = Pick<OutboundRules, 'settleSeconds' | 'patienceSeconds' | 'lookScheduleSeconds'>;

/** The schedule of searches for a send, in milliseconds since it was given up. */
interface LookTimes {
  /** The latest search that is due; the list must be known since then. Null = none is due yet. */
  readonly due: number | null;
  /** The time of the next search. */
  readonly next: number;
}

/**
 * Computes the due search and the next one: at `settleSeconds`, at the times of `lookScheduleSeconds`, at
 * `patienceSeconds`, and then every `patienceSeconds` (at least hourly).
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
