import { listedKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { wholeSweeps } from '../../jobs/schedule/whole-sweeps.ts';
import { startKeepingFresh } from '../../pull/freshness/keep-fresh.ts';
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
