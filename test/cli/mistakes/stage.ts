import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startSandbox } from '../../../sandbox/sandbox.ts';
import { settingsFor, type Env } from '../../support/command-line.ts';
import { freshDatabaseUrl, freshRole } from '../../support/postgres.ts';
import { freshRedis } from '../../support/redis.ts';
import { SELF_SIGNED } from '../../source/self-signed.ts';
import { untilTestEnds } from '../../support/serve.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import type { Stage } from './mistake.ts';

const REDIS_PASSWORD = 'of-a-test';

/** Sets up all that the mistakes are made with, a Redis only if asked, and the settings that would work. */
export async function openStage({ withRedis = false } = {}): Promise<{
  readonly stage: Stage;
  readonly env: Env;
}> {
  const folder = tempFolder();
  const sandbox = await startSandbox({ size: 5 });
  onTestFinished(() => sandbox.close());
  const redis = withRedis ? await freshRedis('--requirepass', REDIS_PASSWORD) : { port: 0 };
  const postgres = await freshDatabaseUrl();
  const tls = await untilTestEnds(createServer(SELF_SIGNED, (_request, response) => response.end('{}')));
  const stage: Stage = {
    folder,
    service: sandbox.url,
    tlsService: `https://127.0.0.1:${tls.port}`,
    redisPort: redis.port,
    postgres,
    postgresWithoutRights: (await freshRole(postgres)).url,
    file: (name, text) => {
      const path = join(folder, name);
      writeFileSync(path, text, 'latin1');
      return path;
    },
  };
  const once = { BMS__SOURCE__MAX_ATTEMPTS: '1' }; // The message of the last try is that of the first.
  return { stage, env: { ...settingsFor(sandbox, join(folder, 'mirror.db')), ...once } };
}
