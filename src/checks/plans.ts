import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { nextSlots, type Schedule } from '../runs/schedule.ts';
import { passed, type CheckResult } from '../lib/check-result.ts';
import { OTHER_SCHEDULES, pullsOtherwise, type Serving } from './serving.ts';

/** Says which background services are at work. */
export function* tellServing(serving: Serving): Iterable<CheckResult> {
  if (serving.workers.length === 0) yield passed('serve', 'no background service is at work on this mirror');
  for (const { owner, roles, startedAt } of serving.workers) {
    const [host, pid] = owner.split(':');
    const detail = `a background service is at work on this mirror: process ${pid ?? ''} on ${host ?? ''}, since ${startedAt.slice(0, 16)} UTC (${roles.replaceAll(',', ', ')})`;
    yield passed('serve', detail);
  }
}

/**
 * Says when the background service that runs pulls, and what one would do by these settings: when it pulls, if none runs,
 * whether it sends, what it removes and rereads.
 *
 * @param schedules Those of the settings.
 */
export function* tellPlans(
  config: Config,
  schedules: readonly Schedule[],
  serving: Serving,
  now: Date,
): Iterable<CheckResult> {
  const all = listedKinds(config).length;
  const slots = nextSlots(serving.schedules ?? schedules, now);
  if (slots.length === 0) yield passed('schedules', 'no pull is scheduled: serve pulls nothing by itself');
  if (pullsOtherwise(serving, schedules)) yield passed('schedules', OTHER_SCHEDULES);
  for (const { name, cron, timezone, kinds, at } of slots) {
    const which = kinds.length === all ? 'all kinds' : kinds.join(', ');
    const detail = `serve pulls ${which} by "${cron}" (${timezone}), next at ${at.slice(0, 16)} UTC`;
    yield passed(`schedules.${name}`, detail);
  }
  yield config.outbound.writes === 'on'
    ? passed('writes', 'outbound.writes is on: serve sends the entries of the outbox')
    : passed('writes', 'outbound.writes is off: entries are kept in the outbox, and nothing is sent');
  const kept = (what: string, days: number | null): string =>
    `${what} ${days === null ? 'for ever' : `for ${days} days`}`;
  const { changesDays, runsDays, outboxDays, issuesDays } = config.retention;
  const parts = [
    kept('change events', changesDays),
    kept('runs', runsDays),
    kept('ended entries of the outbox', outboxDays),
    kept('closed issues', issuesDays),
  ];
  yield passed('retention', `kept are ${parts.join(', ')}`);
  const { requestsPerMinute: budget } = config.freshness;
  yield budget === null
    ? passed('freshness', 'serve reads nothing between sweeps (freshness.requestsPerMinute)')
    : passed('freshness', `serve spends up to ${budget} requests a minute between sweeps`);
}
