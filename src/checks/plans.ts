import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { wholeSweeps } from '../jobs/schedule.ts';
import type { ScheduleSlot } from '../jobs/schedule.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { lengthOf, systemClock } from '../lib/time/clock.ts';
import type { Session } from '../mirror/session/session.ts';
import { followLists } from '../pull/freshness/follow-lists.ts';
import { forecastDelays, forecastList } from '../pull/freshness/unseen-ages.ts';
import type { ForecastList } from '../pull/freshness/unseen-ages.ts';

/** Says what the background service would do by these settings: when it pulls, whether it sends, what it removes. */
export function tellPlans(config: Config, slots: readonly ScheduleSlot[]): readonly CheckResult[] {
  return [...tellSchedules(config, slots), tellWrites(config), tellRetention(config)];
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
    ...[kept('change events', changesDays), kept('runs', runsDays)],
    ...[kept('ended entries of the outbox', outboxDays), kept('closed issues', issuesDays)],
  ];
  return passed('retention', `kept are ${parts.join(', ')}`);
}

const NAME = 'freshness';

type OpenMirror = () => Promise<Session>;

/**
 * Says what the budget of requests between sweeps gives, and what half and double of it would.
 *
 * @param openMirror Null without a mirror of this release.
 */
export async function tellFreshness(
  config: Config,
  slots: readonly ScheduleSlot[],
  openMirror: OpenMirror | null,
): Promise<CheckResult> {
  const { requestsPerMinute: budget } = config.freshness;
  if (budget === null)
    return passed(NAME, 'serve reads nothing between sweeps (freshness.requestsPerMinute)');
  const lists = openMirror === null ? [] : await readRates(config, slots, openMirror);
  const spent = `serve spends up to ${budget} requests a minute between sweeps`;
  if (lists.length === 0)
    return passed(NAME, `${spent}; what they give can be told once lists are certified`);
  const others = [budget / 2, budget * 2].map((other) => `with ${other} ${wordsOf(lists, other)}`);
  return passed(
    NAME,
    `${spent}: changes of records are expected to be seen ${wordsOf(lists, budget)}; ${others.join('; ')}`,
  );
}

function wordsOf(lists: readonly ForecastList[], budget: number): string {
  const { p50, p95 } = forecastDelays(lists, budget);
  return `half within ${lengthOf(1000 * p50)}, 95 % within ${lengthOf(1000 * p95)}`;
}

async function readRates(
  config: Config,
  slots: readonly ScheduleSlot[],
  openMirror: OpenMirror,
): Promise<readonly ForecastList[]> {
  const now = systemClock.now();
  const listsNow = followLists({
    kinds: listedKinds(config, []),
    owner: { name: NAME, isDead: () => false },
    sweepsOf: wholeSweeps(slots),
  });
  await using session = await openMirror();
  return (await listsNow(session, now)).map((list) => forecastList(list, now.getTime()));
}
