import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import type { Load, Tool } from './tools.ts';

/** Runs the tool's command as a person would; returns the seconds until it ended. */
async function run({ command }: Tool, load: Load): Promise<number> {
  const { script, env = {} } = command(load);
  const start = performance.now();
  const child = spawn('bash', ['-c', `set -o pipefail; ${script}`], {
    env: { PATH: process.env['PATH'], HOME: load.folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errorOutput = '';
  child.stdout.resume();
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (errorOutput = (errorOutput + text).slice(-2000)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 && code !== 3) throw new Error(`${script} ended with ${String(code)}: ${errorOutput}`);
  return (performance.now() - start) / 1000;
}

/** The seconds of a first load and of two of an unchanged list, and what the last one made the database write. */
export async function firstAndUnchanged(tool: Tool, database: string, rows: number): Promise<object> {
  const server = fork(new URL('../page-server.ts', import.meta.url), [String(rows)], {
    execArgv: ['--import', 'tsx'],
  });
  const [{ url }] = (await once(server, 'message')) as [{ url: string }];
  const folder = mkdtempSync(join(tmpdir(), 'beside-'));
  try {
    const load = { url, database, folder };
    const firstSeconds = await run(tool, load);
    const secondSeconds = await run(tool, load); // bms-sync creates the indexes and the search texts in it.
    const before = await megabytesWritten(database);
    const unchangedSeconds = await run(tool, load);
    const writtenMb = rounded((await megabytesWritten(database)) - before);
    return {
      firstSeconds: rounded(firstSeconds),
      secondSeconds: rounded(secondSeconds),
      unchangedSeconds: rounded(unchangedSeconds),
      writtenMb,
    };
  } finally {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

const LOADS = 5;
const REQUESTS_A_CHANGE = 3;

/**
 * Loads a list whose records go, come and move while it is read. Counts the records that were there during a whole load and
 * that the table lacked after it, and the deleted ones that it still shows after two loads in which nothing moved.
 */
export async function churned(tool: Tool, database: string, rows: number): Promise<object> {
  await using sandbox = await startSandbox({ size: rows });
  const folder = mkdtempSync(join(tmpdir(), 'beside-'));
  const load = { url: sandbox.url, database, folder };
  try {
    await run(tool, load);
    let lost = 0;
    const deleted = new Set<number>();
    for (let round = 0; round < LOADS; round++) {
      const before = sandbox.world.ids('clients');
      const stop = churn(sandbox, deleted);
      await run(tool, load);
      stop();
      const shown = await readIds(tool, database);
      const after = new Set(sandbox.world.ids('clients'));
      lost += before.filter((id) => after.has(id) && !shown.has(id)).length;
    }
    await run(tool, load);
    await run(tool, load);
    const shown = await readIds(tool, database);
    const ghosts = [...deleted].filter((id) => shown.has(id)).length;
    return { lost, deleted: deleted.size, ghosts };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Deletes, adds and renames a client in turn, one for every few requests. */
function churn({ world, requests }: Sandbox, deleted: Set<number>): () => void {
  let seen = requests.length;
  let turn = 0;
  const timer = setInterval(() => {
    for (; requests.length - seen >= REQUESTS_A_CHANGE; seen += REQUESTS_A_CHANGE) {
      const ids = world.ids('clients');
      const id = ids[(turn * 37) % ids.length] ?? 0;
      if (turn % 3 === 0) {
        world.remove('clients', id);
        deleted.add(id);
      } else if (turn % 3 === 1) world.insert('clients', { code: `0000${turn}`, name: `New ${turn}` });
      else world.update('clients', id, { code: `ZZ${turn}` }); // The list is in the order of codes.
      turn++;
    }
  }, 1);
  return () => {
    clearInterval(timer);
  };
}

async function readIds({ ids }: Tool, database: string): Promise<ReadonlySet<number>> {
  const rows = await query(database, ids);
  return new Set(rows.map(({ id }) => Number(id)));
}

/** By the server's write-ahead log. */
async function megabytesWritten(database: string): Promise<number> {
  const sum = `select (pg_current_wal_lsn() - '0/0') / 1e6 as id`;
  return Number((await query(database, sum))[0]?.id ?? 0);
}

async function query(database: string, sql: string): Promise<{ id: string }[]> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    return (await client.query<{ id: string }>(sql)).rows;
  } finally {
    await client.end();
  }
}

const rounded = (seconds: number): number => Number(seconds.toFixed(1));
