import type { Config } from '../config/settings.ts';
import { checkPostgresQueue } from '../jobs/bullmq/postgres-check.ts';
import { checkRedis } from '../jobs/bullmq/redis-check.ts';
import { well } from '../lib/finding.ts';
import type { Finding } from '../lib/finding.ts';
import type { Logger } from '../lib/logger.ts';
import { checkDatabase } from './checks/database.ts';
import { checkService } from './checks/service.ts';

/** Looks at everything that is needed: the settings, the database, the queue, the service and the token. Changes no data. */
export async function examine(config: Config, logger: Logger): Promise<readonly Finding[]> {
  return [
    well('settings', 'valid'), // They were read before this point, or refused.
    ...(await checkDatabase(config)),
    ...(await checkQueue(config)),
    ...(await checkService(config, logger)),
  ];
}

async function checkQueue({ queue }: Config): Promise<readonly Finding[]> {
  if (queue.url === null) return [];
  return /^rediss?:/.test(queue.url) ? checkRedis(queue.url) : [await checkPostgresQueue(queue.url)];
}
