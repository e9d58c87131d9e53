import type { Config } from '../config/settings.ts';
import { checkPostgresQueue } from '../jobs/bullmq/postgres-check.ts';
import { checkRedis } from '../jobs/bullmq/redis-check.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import type { Logger } from '../lib/logger.ts';
import { checkDatabase } from './checks/database.ts';
import { checkService } from './checks/service.ts';
import { checkTenants } from './checks/tenants.ts';
import { listedKinds } from './kinds.ts';

/** Checks all requirements: the settings, the database, the queue, the service and the token. Changes no data. */
export async function examine(config: Config, logger: Logger): Promise<readonly CheckResult[]> {
  const database = await checkDatabase(config);
  const service = await checkService(config, logger);
  const readable = listedKinds(config).filter(({ name }) => isWell(service, `kinds.${name}`));
  const tenants = isWell(database, 'database') ? await checkTenants(config, readable, logger) : [];
  return [
    passed('settings', 'valid'), // They were read before this point, or refused.
    ...database,
    ...tenants,
    ...(await checkQueue(config)),
    ...service,
  ];
}

const isWell = (findings: readonly CheckResult[], name: string): boolean =>
  findings.some((finding) => finding.name === name && finding.ok);

async function checkQueue({ queue }: Config): Promise<readonly CheckResult[]> {
  if (queue.url === null) return [];
  return /^rediss?:/.test(queue.url) ? checkRedis(queue.url) : [await checkPostgresQueue(queue.url)];
}
