import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { insertBare } from './bare-inserts.ts';
import { postgresServer, sqliteFiles } from './databases.ts';
import { pullAlone } from './pull-alone.ts';
import { pullClients, type Pulled } from './pull-clients.ts';
import { inStages } from './stages.ts';

/**
 * What a pull costs over reading and parsing the same pages: the first one, one that finds nothing changed, and one that
 * finds a record in a hundred changed, on every page.
 * `npm run bench [-- --rows N --rounds N --latency MS,MS --postgres --alone]`.
 * All run in this process, in turn in every round, against the same server; ratios are comparable, rates are not.
 * A round before them is not counted: like a background service, both sides are warm when they are measured.
 * `floor` is the ratio of a first pull that does nothing but read, parse, and write the rows by bare statements.
 * After the rounds each runs once more under a profiler, which measures the microseconds per row of its stages; these are for
 * comparison with each other, as a profiler slows down what it watches.
 * Then each runs as the built command in its own process, which reports its memory; `--alone` does only that.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    latency: { type: 'string', default: '0,50' },
    postgres: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
  },
});
const rows = Number(values.rows);
const rounds = Number(values.rounds);
const inFlight = 8;
const pages = Math.ceil(rows / 100);
const server = fork(new URL('./page-server.ts', import.meta.url), [String(rows)], {
  execArgv: ['--max-old-space-size=8000', '--import', 'tsx'],
});
server.once('exit', (code) => {
  if (code !== null) throw new Error(`The page server ended with ${code}.`);
});
const databases = values.postgres ? await postgresServer() : sqliteFiles();
const [{ url }] = (await once(server, 'message')) as [{ url: string }];
let edition = 0;

if (!values.alone) {
  await warmUp();
  for (const latencyMs of values.latency.split(',').map(Number)) await compare(latencyMs);
  if (!values.postgres) await measureFloor();
}
await measureAlone();
server.kill();
await databases.close();

async function warmUp(): Promise<void> {
  await order({ latencyMs: 0 });
  await fetchAndParse();
  await pullInTurn();
}

async function compare(latencyMs: number): Promise<void> {
  await order({ latencyMs });
  const limits: number[] = [];
  const pulls: Record<string, Pulled[]> = {};
  for (let round = 0; round < rounds; round++) {
    limits.push(await fetchAndParse());
    for (const [name, pulled] of Object.entries(await pullInTurn())) (pulls[name] ??= []).push(pulled);
  }
  const limit = rows / median(limits);
  for (const [name, all] of Object.entries(pulls)) {
    const rate = rows / median(all.map(({ seconds }) => seconds));
    print({
      pull: name,
      latencyMs,
      inFlight,
      rounds,
      limitRowsPerSecond: Math.round(limit),
      rowsPerSecond: Math.round(rate),
      ratio: Number((rate / limit).toFixed(3)),
      loopDelayP99Ms: median(all.map(({ loopDelayP99Ms }) => loopDelayP99Ms)),
    });
  }
  await pullInTurn(async (pull, name) => {
    const { result, stages } = await inStages(pull);
    const microsecondsARow = [...stages].map(([stage, us]) => [stage, Number((us / rows).toFixed(1))]);
    print({ pull: name, latencyMs, microsecondsARow: Object.fromEntries(microsecondsARow) as object });
    return result;
  });
}

/** SQLite alone, without latency: the rows of a first pull, written by bare statements. */
async function measureFloor(): Promise<void> {
  await order({ latencyMs: 0 });
  const database = await databases.fresh();
  await pullClients({ url, database, inFlight });
  const mirror = database.slice('file:'.length);
  const copy = `${database.slice('file:'.length)}.copy`;
  const limits: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    limits.push(await fetchAndParse());
    bare.push(insertBare(mirror, copy));
    rmSync(copy);
  }
  const limit = median(limits);
  const writing = median(bare);
  const microsecondsARow = Number(((writing * 1e6) / rows).toFixed(1));
  print({
    floor: 'first',
    latencyMs: 0,
    microsecondsARow,
    ratio: Number((limit / (limit + writing)).toFixed(3)),
  });
}

type Around = (pull: () => Promise<Pulled>, name: string) => Promise<Pulled>;

/** The second pull is the first that can certify the list; the third is what every later one is. */
async function pullInTurn(around: Around = (pull) => pull()): Promise<Record<string, Pulled>> {
  const target = { url, database: await databases.fresh(), inFlight };
  const pull = (): Promise<Pulled> => pullClients(target);
  const first = await around(pull, 'first');
  await pull();
  const unchanged = await around(pull, 'unchanged');
  await order({ edition: ++edition });
  const changed = await around(pull, 'changed');
  expectCounts(
    [first.report.created, rows],
    [unchanged.report.unchanged, rows],
    [changed.report.updated, pages],
  );
  return { first, unchanged, changed };
}

async function measureAlone(): Promise<void> {
  await order({ latencyMs: 0 });
  const database = await databases.fresh();
  for (const name of ['first', 'again', 'unchanged', 'changed']) {
    if (name === 'changed') await order({ edition: ++edition });
    print({ pull: name, alone: true, ...(await pullAlone({ url, database, inFlight })) });
  }
}

async function fetchAndParse(): Promise<number> {
  const agent = new Agent({ connections: inFlight });
  const start = performance.now();
  let next = 1;
  const worker = async (): Promise<void> => {
    for (let page = next++; page <= pages; page = next++) {
      const answer = await request(`${url}/api/clients?page=${page}&per_page=100`, { dispatcher: agent });
      JSON.parse(await answer.body.text());
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - start) / 1000;
  await agent.close();
  return seconds;
}

async function order(message: { latencyMs: number } | { edition: number }): Promise<void> {
  const done = once(server, 'message');
  server.send(message);
  await done;
}

function expectCounts(...pairs: readonly (readonly [number, number])[]): void {
  for (const [got, expected] of pairs)
    if (got !== expected) throw new Error(`expected ${expected} rows, got ${got}`);
}

function print(figures: object): void {
  console.log(JSON.stringify({ database: values.postgres ? 'PostgreSQL' : 'SQLite', rows, ...figures }));
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}
