import type { Redis } from 'ioredis';
import { failedCheck, passedCheck, type CheckResult } from '../lib/check-result.ts';
import { errorCode } from '../lib/sync-error.ts';

const OLDEST_VERSION = [6, 2] as const;
const TIMEOUT_MS = 5_000;

/** Checks whether the Redis of the queues answers and is configured for them, as far as the settings name one. */
export async function checkQueue(url: string | null): Promise<readonly CheckResult[]> {
  if (url === null) return [];
  // Loaded only if Redis is used. The bundle gives a CommonJS library as `default` alone.
  const { default: ioredis } = await import('ioredis');
  const client = new ioredis.Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
  });
  let fault: unknown;
  client.on('error', (error) => {
    fault = error; // The command reports only a missing connection; this error has the cause.
  });
  try {
    await client.connect();
    const refusal = await refusalToWrite(client);
    if (refusal === null) return checkRedisInfo(await client.info());
    const detail = redisFaultText('takes no jobs', refusal, url);
    const hint = 'Fix this Redis, or set QUEUE_URL to another one.';
    return [failedCheck('redis', 'jobs.redis_refuses', detail, hint)];
  } catch (error) {
    const detail = redisFaultText('does not answer', fault ?? error, url);
    const hint =
      'Check that it runs, the host, port and password in QUEUE_URL, and whether it speaks TLS (rediss://) or not (redis://). Work continues without it, with some delay.';
    return [failedCheck('redis', 'jobs.redis_unreachable', detail, hint)];
  } finally {
    client.disconnect();
  }
}

/** Returns the error of a Redis that refuses writes; null if it accepts them. A node of a cluster may take this key and refuse the next. */
async function refusalToWrite(client: Redis): Promise<unknown> {
  if (/^cluster_enabled:1/m.test(await client.info('cluster'))) return CLUSTER;
  try {
    await client.set('bms-sync:doctor', '1', 'PX', TIMEOUT_MS);
    return null;
  } catch (error) {
    return error;
  }
}

const CLUSTER = 'it is a node of a cluster, which the queue cannot use: name a single Redis';

/** Checks the configuration of a Redis by the output of its command INFO. */
export function checkRedisInfo(info: string): readonly CheckResult[] {
  const facts = new Map(
    info.split(/\r?\n/).map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1)]),
  );
  const version = facts.get('redis_version') ?? 'unknown';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isRecent = major > OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor >= OLDEST_VERSION[1]);
  const answers = `Redis ${version} answers`;
  const upgrade = `Upgrade it to ${OLDEST_VERSION.join('.')} or later.`;
  const policy = facts.get('maxmemory_policy') ?? 'unknown';
  const policyName = 'redis.maxmemory-policy';
  const policyDetail = `maxmemory-policy is ${policy}`;
  const hint = 'Set maxmemory-policy noeviction: when memory is short Redis would drop parts of jobs.';
  return [
    isRecent ? passedCheck('redis', answers) : failedCheck('redis', 'jobs.redis_too_old', answers, upgrade),
    policy === 'noeviction'
      ? passedCheck(policyName, policyDetail)
      : failedCheck(policyName, 'jobs.redis_evicts', policyDetail, hint),
  ];
}

/** Explains why a Redis does not answer. Shows the host and port only. */
function redisFaultText(effect: string, error: unknown, address: string): string {
  const { hostname, port } = new URL(address);
  const message = error instanceof Error ? error.message || errorCode(error) : String(error); // Of several addresses there is no message.
  return `Redis at ${hostname}:${port === '' ? '6379' : port} ${effect}: ${message}`;
}
