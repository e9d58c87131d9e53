import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import type { ScheduleSlot } from '../runs/schedule.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';

/** Says what the background service would do by these settings: when it pulls, whether it sends, what it removes and rereads. */
export function* tellPlans(config: Config, slots: readonly ScheduleSlot[]): Iterable<CheckResult> {
  const all = listedKinds(config).length;
  if (slots.length === 0) yield passed('schedules', 'no pull is scheduled: serve pulls nothing by itself');
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
