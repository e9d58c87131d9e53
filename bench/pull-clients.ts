import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { bundle } from '../scripts/build/bundle.ts';
import type * as Pull from '../src/app/pull.ts';
import type * as Config from '../src/config/load-config.ts';
import type * as Log from '../src/lib/log/logger.ts';

/** What is bundled is measured, as users run it: what runs these scripts slows down what it compiles. */
const FOLDER = join(import.meta.dirname, '../node_modules/.cache/bms-sync-bench');
// tsx turns source maps on, and beside it those of the bundle make an unchanged pull an eighth slower. In plain Node they do not.
process.setSourceMapsEnabled(false);
await bundle(['src/app/pull.ts', 'src/config/load-config.ts', 'src/lib/log/logger.ts'], FOLDER);
const built = async <T>(path: string): Promise<T> => (await import(join(FOLDER, path))) as T;
const { pullOnce } = await built<typeof Pull>('pull.js');
const { loadConfig } = await built<typeof Config>('load-config.js');
const { createLogger } = await built<typeof Log>('logger.js');

export interface Pulled {
  readonly report: Pull.PullSummary['kinds'][number];
  readonly seconds: number;
  readonly loopDelayP99Ms: number;
}

export interface Target {
  readonly url: string;
  readonly token?: string;
  readonly database: string;
  readonly inFlight: number;
}

const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

/** Pulls these kinds once, as the command does; none means all. */
export async function pullKindsOnce(
  { url, token = 'bench', database, inFlight }: Target,
  kinds: readonly string[],
): Promise<Pull.PullSummary['kinds']> {
  const source = { baseUrl: url, token, concurrency: inFlight };
  const config = loadConfig({ env: {}, flags: { source, database: { url: database } } });
  const report = await pullOnce(config, { logger, kinds, acceptNewSource: false });
  const unread = report.kinds.filter(({ state }) => state !== 'certified' && state !== 'complete');
  if (unread.length > 0) throw new Error(`expected whole lists, got ${JSON.stringify(unread)}`);
  return report.kinds;
}

/** Pulls the clients once. */
export async function pullClients(target: Target): Promise<Pulled> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const start = performance.now();
  const [report] = await pullKindsOnce(target, ['clients']);
  const seconds = (performance.now() - start) / 1000;
  delays.disable();
  if (report === undefined) throw new Error('clients were pulled');
  return { report, seconds, loopDelayP99Ms: Number((delays.percentile(99) / 1e6).toFixed(1)) };
}
