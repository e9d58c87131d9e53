import { parseArgs } from 'node:util';
import { postgresServer } from '../databases.ts';
import { lostAnswers } from './creates.ts';
import { churned, firstAndUnchanged } from './loads.ts';
import { toolsOf } from './tools.ts';

/**
 * bms-sync beside dlt, Singer, PyAirbyte and drt, each by its own documented means, against the same simulated service:
 * `bench/beside/set-up.sh FOLDER`, then
 * `npm run build && node --import tsx bench/beside/run.ts --environments FOLDER [--rows N] [--churned N] [--only NAME]`.
 * Seconds are those of whole commands, start included, without latency of the service, into an empty PostgreSQL.
 */
const { values } = parseArgs({
  options: {
    environments: { type: 'string' },
    rows: { type: 'string', default: '50000' },
    churned: { type: 'string', default: '3000' },
    only: { type: 'string', default: '' },
  },
});
const { environments } = values;
if (environments === undefined) throw new Error('--environments names the folder that set-up.sh has filled.');
const databases = await postgresServer();
const report = (tool: string, figures: object): void => {
  console.log(JSON.stringify({ tool, ...figures }));
};

try {
  for (const tool of toolsOf(environments)) {
    if (!tool.name.includes(values.only)) continue;
    report(tool.name, await firstAndUnchanged(tool, await databases.fresh(), Number(values.rows)));
    report(tool.name, await churned(tool, await databases.fresh(), Number(values.churned)));
  }
  for (const tool of ['bms-sync', 'drt'] as const)
    if (tool.includes(values.only)) report(tool, await lostAnswers(tool, environments));
} finally {
  await databases.close();
}
