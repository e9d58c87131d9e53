import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { startSandbox } from '../sandbox/sandbox.ts';
import { postgresServer, sqliteFiles } from './databases.ts';
import { pullKindsOnce } from './pull-clients.ts';

/**
 * What a pull of all kinds takes over a slow network: `npm run bench -- kinds [--rows N --latency MS,MS --postgres]`. `ratio` compares
 * it with its requests at `source.concurrency` at once and nothing else; `beyondStart` is without what the same pull takes at no latency.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '80' },
    latency: { type: 'string', default: '50,300,1500' },
    postgres: { type: 'boolean', default: false },
  },
});
const IN_FLIGHT = 4;
const databases = values.postgres ? await postgresServer() : sqliteFiles();
const sandbox = await startSandbox({ size: Number(values.rows) });
const atNoLatency: Record<string, number> = {};

for (const latencyMs of [0, 0, ...values.latency.split(',').map(Number)]) {
  sandbox.setFaults([{ do: { latencyMs } }]);
  const target = {
    url: sandbox.url,
    token: sandbox.token,
    database: await databases.fresh(),
    inFlight: IN_FLIGHT,
  };
  for (const pull of ['first', 'second', 'unchanged']) {
    const before = sandbox.requests.length;
    const start = performance.now();
    const kinds = await pullKindsOnce(target, []);
    const seconds = (performance.now() - start) / 1000;
    const requests = sandbox.requests.length - before;
    if (latencyMs === 0) atNoLatency[pull] = seconds;
    const least = (requests * latencyMs) / IN_FLIGHT / 1000;
    console.log(
      JSON.stringify({
        database: values.postgres ? 'PostgreSQL' : 'SQLite',
        pull,
        latencyMs,
        requests,
        rows: kinds.reduce((sum, kind) => sum + kind.rows, 0),
        seconds: round(seconds),
        least: round(least),
        ratio: round(seconds / least),
        beyondStart: round((seconds - (atNoLatency[pull] ?? 0)) / least),
        heapMb: Math.round(process.memoryUsage().rss / 1e6),
      }),
    );
  }
}
await sandbox.close();
await databases.close();

function round(value: number): number {
  return Number(value.toFixed(3));
}
