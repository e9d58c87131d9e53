import { requireListedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { findUnscheduled, nextSlots, type Schedule } from '../runs/schedule.ts';
import { passedCheck, type CheckResult } from '../lib/check-result.ts';
import { describeOwner } from '../lib/owner.ts';
import { RESUME } from '../store/outbox/freeze-store.ts';
import { OTHER_SCHEDULES_NOTE, hasOtherSchedules, rolesText, type Serving } from './serving.ts';

/** Lists the running background services, and reports whether they send, or would by these settings. @param isPaused Sends wait for a user. */
export function* checkServing(config: Config, serving: Serving, isPaused: boolean): Iterable<CheckResult> {
  if (serving.workers.length === 0)
    yield passedCheck('serve', 'no background service is registered in this mirror');
  for (const { owner, roles, startedAt } of serving.workers) {
    const detail = `a background service is running on this mirror: ${describeOwner(owner)}, since ${startedAt.slice(0, 16)} UTC (${rolesText(roles.split(','))})`;
    yield passedCheck('serve', detail);
  }
  const writes = serving.workers.length === 0 ? config.outbound.writes : serving.isSending ? 'on' : 'off';
  yield passedCheck('writes', describeSending(writes, isPaused));
}

/**
 * Reports when the running background service pulls, or would by these settings.
 *
 * @param schedules Those of the settings.
 */
export function* checkSchedules(
  config: Config,
  schedules: readonly Schedule[],
  serving: Serving,
  now: Date,
): Iterable<CheckResult> {
  const all = requireListedKinds(config).map((kind) => kind.name);
  const inForce = serving.schedules ?? schedules;
  const slots = nextSlots(inForce, now);
  const hint = 'To read them, set schedules.all: it is for the kinds that no other schedule names.';
  const unscheduled = findUnscheduled(inForce, all);
  if (slots.length === 0)
    yield { ...passedCheck('schedules', 'no schedule is set: serve does not pull'), hint };
  if (hasOtherSchedules(serving, schedules)) yield passedCheck('schedules', OTHER_SCHEDULES_NOTE);
  for (const { name, cron, timezone, kinds, at } of slots) {
    const kindsText = kinds.length === all.length ? 'all kinds' : kinds.join(', ');
    const detail = `serve pulls ${kindsText} by "${cron}" (${timezone}), next at ${at.slice(0, 16)} UTC`;
    yield passedCheck(`schedules.${name}`, detail);
  }
  if (slots.length > 0 && unscheduled.length > 0)
    yield { ...passedCheck('schedules', `no schedule pulls ${unscheduled.join(', ')}`), hint };
}

/** Whether `serve` sends the entries of the outbox. */
export function describeSending(writes: Config['outbound']['writes'], isPaused: boolean): string {
  if (isPaused) return `sends are paused. ${RESUME}`;
  return writes === 'on'
    ? 'writes are on (outbound.writes): serve sends the entries of the outbox'
    : 'writes are off (outbound.writes): entries stay in the outbox';
}
