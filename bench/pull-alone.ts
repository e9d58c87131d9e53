import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { PullReport } from '../src/pull/sweep/pull-kinds.ts';
import type { Target } from './pull-clients.ts';

/** What a process says of itself when it ends; loaded before the command, which knows nothing of it. */
const FIGURES = `
  import { monitorEventLoopDelay } from 'node:perf_hooks';
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    process.stderr.write('\\n' + JSON.stringify({
      peakMemoryMb: Math.round(maxRSS / 1000),
      loopDelayP99Ms: Number((delays.percentile(99) / 1e6).toFixed(1)),
      loopDelayMaxMs: Number((delays.max / 1e6).toFixed(1)),
      cpuSeconds: Number(((userCPUTime + systemCPUTime) / 1e6).toFixed(1)),
    }));
  });`;

/** Pulls the clients once by the command as it is built, in a process of its own; returns what it took. */
export async function pullAlone({ url, database, inFlight }: Target): Promise<object> {
  const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));
  const args = ['--import', `data:text/javascript,${encodeURIComponent(FIGURES)}`, program];
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [...args, 'pull', 'clients', '--json'],
    {
      env: {
        PATH: process.env['PATH'],
        BMS_TOKEN: 'bench',
        BMS_BASE_URL: url,
        BMS__SOURCE__CONCURRENCY: String(inFlight),
        DATABASE_URL: database,
      },
    },
  );
  const { kinds } = JSON.parse(stdout) as PullReport;
  const [{ state, rows, created, updated, durationMs } = {} as Partial<PullReport['kinds'][number]>] = kinds;
  const figures = JSON.parse(stderr.slice(stderr.lastIndexOf('\n'))) as object;
  return { state, rows, created, updated, seconds: (durationMs ?? 0) / 1000, ...figures };
}
