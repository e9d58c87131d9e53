import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pull } from '../src/app/pull.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createLogger } from '../src/lib/logger.ts';

/** Pulls the clients once in a process of its own and prints what it took: `pull-once.ts URL DATABASE IN_FLIGHT`. */
const [url = '', database = '', inFlight = '8'] = process.argv.slice(2);
const config = loadConfig({
  env: {},
  flags: {
    source: { baseUrl: url, token: 'bench', concurrency: Number(inFlight) },
    database: { url: database },
  },
});
const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
const report = await pull(config, { logger, kinds: ['clients'], acceptNewSource: false });
delays.disable();
console.log(
  JSON.stringify({
    rows: report.kinds[0]?.rows,
    created: report.kinds[0]?.created,
    seconds: report.durationMs / 1000,
    peakMemoryMb: Math.round(process.resourceUsage().maxRSS / 1000),
    loopDelayP99Ms: Number((delays.percentile(99) / 1e6).toFixed(1)),
  }),
);
