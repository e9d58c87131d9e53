import { listedKinds } from '../config/known-kinds.ts';
import type { CheckResult } from '../lib/check-result.ts';
import type { DoctorParts } from './check.ts';
import { checkDatabase } from './database.ts';
import { tellFreshness } from './freshness.ts';
import { tellPlans, tellSettings } from './plans.ts';
import { checkQueue } from './queue.ts';
import { checkService } from './service.ts';
import { checkTenants } from './tenants.ts';

/** Checks all requirements: the settings, the database, the queue, the service and the token. Creates and changes nothing. */
export async function checkAll(parts: DoctorParts): Promise<readonly CheckResult[]> {
  const { checks: database, isMirror } = await checkDatabase(parts);
  const service = await checkService(parts);
  const readable = listedKinds(parts.config).filter(({ name }) => isWell(service, `kinds.${name}`));
  return [
    tellSettings(parts.config, parts.slots), // They were read before this point, or refused.
    ...database,
    ...(isMirror ? await checkTenants(parts, readable) : []),
    ...tellPlans(parts.config, parts.slots),
    await tellFreshness(parts, isMirror),
    ...(await checkQueue(parts.config.queue.url)),
    ...service,
  ];
}

const isWell = (findings: readonly CheckResult[], name: string): boolean =>
  findings.some((finding) => finding.name === name && finding.ok);
