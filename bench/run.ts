import { execFile, fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { Agent, request } from 'undici';
import { pull } from '../src/app/pull.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { createLogger } from '../src/lib/logger.ts';
import { postgresServer, sqliteFiles } from './databases.ts';

/**
 * What a first pull costs over reading and parsing the same pages:
 * `npm run bench [-- --rows N --rounds N --latency MS,MS --postgres]`.
 * Both run in this process, one after the other in every round, against the same server; ratios are comparable, rates are not.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    latency: { type: 'string', default: '0,50' },
    postgres: { type: 'boolean', default: false },
  },
});
const [ROWS, ROUNDS, IN_FLIGHT] = [Number(values.rows), Number(values.rounds), 8];
const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

const server = fork(new URL('./page-server.ts', import.meta.url), [String(ROWS)], {
  execArgv: ['--import', 'tsx'],
});
const databases = values.postgres ? await postgresServer() : sqliteFiles();
const [{ url }] = (await once(server, 'message')) as [{ url: string }];
for (const latencyMs of values.latency.split(',').map(Number)) {
  await setLatency(server, latencyMs);
  const limits: number[] = [];
  const pulls: number[] = [];
  const delays = monitorEventLoopDelay({ resolution: 1 });
  for (let round = 0; round < ROUNDS; round++) {
    limits.push(ROWS / (await fetchAndParse()));
    delays.enable();
    pulls.push(ROWS / (await firstPull()));
    delays.disable();
  }
  const [limit, first] = [median(limits), median(pulls)];
  console.log(
    JSON.stringify({
      database: values.postgres ? 'PostgreSQL' : 'SQLite',
      rows: ROWS,
      latencyMs,
      inFlight: IN_FLIGHT,
      rounds: ROUNDS,
      limitRowsPerSecond: Math.round(limit),
      firstPullRowsPerSecond: Math.round(first),
      ratio: Number((first / limit).toFixed(3)),
      loopDelayP99Ms: Number((delays.percentile(99) / 1e6).toFixed(1)),
    }),
  );
}
const alone = await pullOnce();
console.log(JSON.stringify({ rows: ROWS, latencyMs: 0, ...alone }));
server.kill();
await databases.close();

/** One first pull in a process of its own: its memory is not ours. */
async function pullOnce(): Promise<object> {
  await setLatency(server, 0);
  const script = fileURLToPath(new URL('./pull-once.ts', import.meta.url));
  const child = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    script,
    url,
    await databases.fresh(),
    String(IN_FLIGHT),
  ]);
  return JSON.parse(child.stdout) as object;
}

async function fetchAndParse(): Promise<number> {
  const agent = new Agent({ connections: IN_FLIGHT });
  const pages = Math.ceil(ROWS / 100);
  const start = performance.now();
  let next = 1;
  const worker = async (): Promise<void> => {
    for (let page = next++; page <= pages; page = next++) {
      const answer = await request(`${url}/api/clients?page=${page}&per_page=100`, { dispatcher: agent });
      JSON.parse(await answer.body.text());
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const seconds = (performance.now() - start) / 1000;
  await agent.close();
  return seconds;
}

async function firstPull(): Promise<number> {
  const config = loadConfig({
    env: {},
    flags: {
      source: { baseUrl: url, token: 'bench', concurrency: IN_FLIGHT },
      database: { url: await databases.fresh() },
    },
  });
  const start = performance.now();
  const report = await pull(config, { logger, kinds: ['clients'], acceptNewSource: false });
  const seconds = (performance.now() - start) / 1000;
  if (report.kinds[0]?.created !== ROWS)
    throw new Error(`expected ${ROWS} rows, got ${JSON.stringify(report)}`);
  return seconds;
}

async function setLatency(child: ChildProcess, latencyMs: number): Promise<void> {
  const set = once(child, 'message');
  child.send({ latencyMs });
  await set;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}
