import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../scripts/clients/pages.ts';
import { STARTER } from '../../scripts/reports/superset.ts';
import { PROBES, runIn, withPort } from './ask.ts';
import type { DatabaseName, Row } from './mirrors.ts';
import type { Stage } from './stage.ts';

/** A chart of the dashboard: the rows of its dataset, and by Superset's API the ones that it shows, and the totals of the metrics. */
export interface ShownChart {
  readonly report: string;
  readonly rows: readonly Row[];
  readonly shown: readonly Row[];
  readonly totals: Readonly<Record<string, string | null>>;
}

const PAGE = 'superset';
const SET_UP = [
  'superset db upgrade',
  'superset fab create-admin --username admin --firstname A --lastname B --email a@example.org --password of-a-test',
  'superset init',
].join(' && ');

/** Sets Superset up, as its own documentation says, with the configuration of the page; returns its folder. */
export async function setUpSuperset(stage: Stage): Promise<string> {
  const home = join(stage.folder, 'superset');
  mkdirSync(home);
  const key = `SECRET_KEY = "${'of a test '.repeat(5)}"\n`;
  writeFileSync(join(home, 'superset_config.py'), `${codeOf(PAGE, 'python', ['Configure'])}\n${key}`);
  await runIn(stage, PAGE, ['sh', '-c', SET_UP], envIn(home));
  return home;
}

/** Imports the reports into a Superset of its own as the page says, and asks what the charts of the dashboard show. */
export async function askDashboard(
  stage: Stage,
  database: DatabaseName,
  setUp: string,
): Promise<readonly ShownChart[]> {
  const home = `${setUp}-${database}`;
  cpSync(setUp, home, { recursive: true });
  cpSync(STARTER, join(stage.folder, 'deploy/superset'), { recursive: true });
  putAddress(stage, database);
  const lines = codeOf(PAGE, 'sh', ['The reports as a dashboard']);
  await runIn(stage, PAGE, ['sh', '-ec', lines], envIn(home));
  const answers = join(home, 'answers.json');
  const argv = ['python', join(PROBES, 'ask_dashboard.py'), 'bms-sync-reports', answers];
  await runIn(stage, PAGE, argv, envIn(home));
  return JSON.parse(readFileSync(answers, 'utf8')) as readonly ShownChart[];
}

/** Puts the address of this run's database into the starter, as the page instructs. */
function putAddress(stage: Stage, database: DatabaseName): void {
  const path = join(stage.folder, 'deploy/superset/databases/mirror.yaml');
  const text = withPort(readFileSync(path, 'utf8'), stage);
  const address = codeOf(PAGE, 'text', ['SQLite']).trim();
  writeFileSync(path, database === 'SQLite' ? text.replace(/postgresql\S+/, address) : text);
}

const envIn = (home: string): Record<string, string> => ({
  SUPERSET_CONFIG_PATH: join(home, 'superset_config.py'),
  SUPERSET_HOME: home,
});
