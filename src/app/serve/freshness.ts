import { listedKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { nextSlot } from '../../jobs/schedule/schedule.ts';
import type { Schedule } from '../../jobs/schedule/schedule.ts';
import { startKeepingFresh } from '../../pull/freshness/keep-fresh.ts';
import type { FreshnessRules } from '../../pull/freshness/keep-fresh.ts';
import { pullSettings } from '../pull.ts';
import type { Role } from '../roles.ts';
import type { ServiceParts } from './queues.ts';
import { schedulesOf } from './schedules.ts';

/**
 * Reads pages between sweeps, if this process has the role of pulling and there is a budget for it. Returns a function that stops
 * it.
 */
export function startFreshness(
  config: Config,
  parts: Pick<ServiceParts, 'session' | 'source' | 'clock' | 'logger' | 'owner'>,
  roles: readonly Role[],
): () => Promise<void> {
  const { requestsPerMinute } = config.freshness;
  if (requestsPerMinute === null || !roles.includes('pulls')) return () => Promise.resolve();
  const rules = pullSettings(config);
  return startKeepingFresh(parts, {
    ...{ requestsPerMinute, rules, baseUrl: rules.baseUrl },
    kinds: listedKinds(config, []),
    sweepsOf: wholeSweeps(schedulesOf(config)),
  });
}

type Sweeps = ReturnType<FreshnessRules['sweepsOf']>;

/** When the schedules read the whole list of a kind next, and how often; computed anew once that has come. */
export function wholeSweeps(schedules: readonly Schedule[]): FreshnessRules['sweepsOf'] {
  const whole = schedules.filter(({ pages }) => pages === null);
  const known = new Map<string, { readonly fromMs: number; readonly sweeps: Sweeps }>();
  return (kind, now) => {
    const before = known.get(kind);
    const nowMs = now.getTime();
    if (before !== undefined && nowMs >= before.fromMs && nowMs < (before.sweeps?.nextMs ?? Infinity))
      return before.sweeps;
    const sweeps = nextSweeps(
      whole.filter(({ kinds }) => kinds.includes(kind)),
      now,
    );
    known.set(kind, { fromMs: nowMs, sweeps });
    return sweeps;
  };
}

function nextSweeps(schedules: readonly Schedule[], now: Date): Sweeps {
  let earliest: Sweeps = null;
  for (const { cron, timezone } of schedules) {
    const next = nextSlot(cron, timezone, now);
    const nextMs = next.getTime();
    if (earliest !== null && earliest.nextMs <= nextMs) continue;
    earliest = { nextMs, everyMs: nextSlot(cron, timezone, next).getTime() - nextMs };
  }
  return earliest;
}
