import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pull } from '../src/app/pull.ts';
import type { KindReport } from '../src/app/pull.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createLogger } from '../src/lib/logger.ts';

export interface Pulled {
  readonly report: KindReport;
  readonly seconds: number;
  readonly loopDelayP99Ms: number;
}

export interface Target {
  readonly url: string;
  readonly database: string;
  readonly inFlight: number;
}

const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

/** Pulls the clients once, as the command does. */
export async function pullClients({ url, database, inFlight }: Target): Promise<Pulled> {
  const config = loadConfig({
    env: {},
    flags: {
      source: { baseUrl: url, token: 'bench', concurrency: inFlight },
      database: { url: database },
    },
  });
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const start = performance.now();
  const { kinds } = await pull(config, { logger, kinds: ['clients'], acceptNewSource: false });
  const seconds = (performance.now() - start) / 1000;
  delays.disable();
  const [report] = kinds;
  if (report?.state !== 'certified' && report?.state !== 'complete')
    throw new Error(`expected a whole list, got ${JSON.stringify(kinds)}`);
  return { report, seconds, loopDelayP99Ms: Number((delays.percentile(99) / 1e6).toFixed(1)) };
}
