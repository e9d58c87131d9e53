import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { postgresServer } from './databases.ts';
import { pullAlone } from './pull-alone.ts';

/**
 * The first load of the clients into PostgreSQL beside dlt's, in neighbouring runs against one server without latency:
 * `npm run build && node --import tsx bench/beside-dlt.ts --python PATH [--rows N --rounds N]`, where PATH is a Python that has
 * `dlt[postgres]`. Ours is the built command, with its default of four requests at a time; dlt has its own default.
 */
const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    rows: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '3' },
  },
});
const server = fork(new URL('./page-server.ts', import.meta.url), [values.rows], {
  execArgv: ['--import', 'tsx'],
});
const databases = await postgresServer();
const [{ url }] = (await once(server, 'message')) as [{ url: string }];

try {
  for (let round = 1; round <= Number(values.rounds); round++) {
    const pull = await pullAlone({ url, database: await databases.fresh(), inFlight: 4 });
    console.log(JSON.stringify({ round, tool: 'bms-sync', ...pull }));
    for (const mode of ['csv', 'merge'])
      console.log(JSON.stringify({ round, tool: `dlt ${mode}`, ...(await loadByDlt(mode)) }));
  }
} finally {
  server.kill();
  await databases.close();
}

async function loadByDlt(mode: string): Promise<object> {
  const script = fileURLToPath(new URL('./beside-dlt.py', import.meta.url));
  const { stdout } = await promisify(execFile)(values.python, [script, url, await databases.fresh(), mode]);
  return { seconds: Number(Number(stdout.trim().split('\n').at(-1)).toFixed(2)) };
}
