import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import type { ScheduleSlot } from '../runs/schedule.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';

/** Says what the background service would do by these settings: when it pulls, whether it sends, what it removes. */
export function tellPlans(config: Config, slots: readonly ScheduleSlot[]): readonly CheckResult[] {
  return [...tellSchedules(config, slots), tellWrites(config), tellRetention(config), tellFreshness(config)];
}

function tellSchedules(config: Config, slots: readonly ScheduleSlot[]): readonly CheckResult[] {
  const all = listedKinds(config).length;
  if (slots.length === 0) return [passed('schedules', 'no pull is scheduled: serve pulls nothing by itself')];
  return slots.map(({ name, cron, timezone, kinds, at }) => {
    const which = kinds.length === all ? 'all kinds' : kinds.join(', ');
    const detail = `serve pulls ${which} by "${cron}" (${timezone}), next at ${at.slice(0, 16)} UTC`;
    return passed(`schedules.${name}`, detail);
  });
}

function tellWrites({ outbound }: Config): CheckResult {
  const isOn = outbound.writes === 'on';
  const detail = isOn
    ? 'outbound.writes is on: serve sends the entries of the outbox'
    : 'outbound.writes is off: entries are kept in the outbox, and nothing is sent';
  return passed('writes', detail);
}

function tellRetention({ retention }: Config): CheckResult {
  const kept = (what: string, days: number | null): string =>
    `${what} ${days === null ? 'for ever' : `for ${days} days`}`;
  const { changesDays, runsDays, outboxDays, issuesDays } = retention;
  const parts = [
    kept('change events', changesDays),
    kept('runs', runsDays),
    kept('ended entries of the outbox', outboxDays),
    kept('closed issues', issuesDays),
  ];
  return passed('retention', `kept are ${parts.join(', ')}`);
}

/** Says what serve reads between sweeps. */
function tellFreshness({ freshness: { requestsPerMinute: budget } }: Config): CheckResult {
  if (budget === null)
    return passed('freshness', 'serve reads nothing between sweeps (freshness.requestsPerMinute)');
  return passed('freshness', `serve spends up to ${budget} requests a minute between sweeps`);
}
