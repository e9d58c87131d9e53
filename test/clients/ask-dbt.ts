import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Big } from 'big.js';
import { codeOf } from '../../scripts/clients/pages.ts';
import { REPORTING } from '../../scripts/reports/page.ts';
import { runIn, withPort } from './ask.ts';
import type { DatabaseName } from './mirrors.ts';
import type { Stage } from './stage.ts';

/** What dbt said of its run, and of the freshness of its sources. */
export interface Built {
  readonly built: string;
  readonly freshness: string;
}

/** Runs what the page about dbt says, in a copy of its project beside `data/`. */
export async function runDbt(stage: Stage, database: DatabaseName): Promise<Built> {
  const project = join(stage.folder, 'dbt');
  cpSync(join(REPORTING, 'dbt'), project, { recursive: true });
  const profiles = join(project, 'profiles.yml');
  writeFileSync(profiles, withPort(readFileSync(profiles, 'utf8'), stage));
  const environment = codeOf('dbt', 'sh', [database]);
  const [sources = '', build = '', freshness = ''] = codeOf('dbt', 'sh', ['Run']).trim().split('\n');
  await runIn(stage, 'dbt', ['sh', '-c', environment + sources]);
  return {
    built: await runIn(stage, 'dbt', ['sh', '-c', environment + build]),
    freshness: await runIn(stage, 'dbt', ['sh', '-c', environment + freshness]),
  };
}

/** The total of each metric by what the page about MetricFlow says: over the models that dbt has made in PostgreSQL. */
export async function askMetrics(
  stage: Stage,
  metrics: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const lines = codeOf('metricflow', 'sh', ['Ask']).replace(
    /--metrics \S+ .*/,
    `--metrics ${metrics.join()} --csv totals.csv`,
  );
  await runIn(stage, 'metricflow', ['sh', '-ec', lines]);
  const [names = [], values = []] = readFileSync(join(stage.folder, 'dbt/totals.csv'), 'utf8')
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));
  const plain = (value: string): string => (value === '' ? '' : new Big(value).toFixed());
  return Object.fromEntries(names.map((name, at) => [name, plain(values[at] ?? '')]));
}
