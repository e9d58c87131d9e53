import { listedKinds } from '../config/known-kinds.ts';
import { wholeSweeps } from '../jobs/schedule/whole-sweeps.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { lengthOf, systemClock } from '../lib/time/clock.ts';
import { followLists } from '../pull/freshness/follow-lists.ts';
import { forecastDelays, forecastList } from '../pull/freshness/unseen-ages.ts';
import type { ForecastList } from '../pull/freshness/unseen-ages.ts';
import type { DoctorParts } from './check.ts';

const NAME = 'freshness';

/** Says what the budget of requests between sweeps gives, and what half and double of it would. */
export async function tellFreshness(
  { config, slots, openMirror }: Pick<DoctorParts, 'config' | 'slots' | 'openMirror'>,
  isMirror: boolean,
): Promise<CheckResult> {
  const { requestsPerMinute: budget } = config.freshness;
  if (budget === null)
    return passed(NAME, 'serve reads nothing between sweeps (freshness.requestsPerMinute)');
  const lists = isMirror ? await readRates({ config, slots, openMirror }) : [];
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

async function readRates({
  config,
  slots,
  openMirror,
}: Pick<DoctorParts, 'config' | 'slots' | 'openMirror'>): Promise<readonly ForecastList[]> {
  const now = systemClock.now();
  const listsNow = followLists({
    kinds: listedKinds(config, []),
    owner: { name: NAME, isDead: () => false },
    sweepsOf: wholeSweeps(slots.filter(({ verifies }) => !verifies)),
  });
  await using session = await openMirror();
  return (await listsNow(session, now)).map((list) => forecastList(list, now.getTime()));
}
