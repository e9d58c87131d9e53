import { Big } from 'big.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { REPORTS as ALL_REPORTS } from '../../src/features/reports/read-reports.ts';
import { neededKinds, type Report } from '../../src/features/reports/report.ts';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { askDashboard, setUpSuperset } from './ask-dashboard.ts';
import { askMetrics, runDbt } from './ask-dbt.ts';
import { askMirror, type DatabaseName, type Row } from './mirrors.ts';
import { openStage, type Stage } from './stage.ts';

/** The mirrors of these tests do not include the shop's kinds. */
const REPORTS = ALL_REPORTS.filter((report) => neededKinds(report).length === 0);

const DATABASES: readonly DatabaseName[] = ['SQLite', 'PostgreSQL'];
let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const answerOf = (database: DatabaseName, { sql }: Report): Promise<readonly Row[]> =>
  askMirror(stage, database, sql);

const sorted = (rows: readonly Row[]): readonly string[] => rows.map((row) => JSON.stringify(row)).sort();

test.each(DATABASES)('dbt makes the reports on %s, and all tests and freshness pass', async (database) => {
  const { built, freshness } = await runDbt(stage, database);
  const [passed, ...others] = ['PASS', 'WARN', 'ERROR', 'SKIP'].map((word) => countAfter(built, word));
  expect(passed).toBeGreaterThan(50);
  expect(others).toEqual([0, 0, 0]);
  expect(freshness.match(/PASS freshness of bms_sync\.bi_\w+/g)).toHaveLength(LISTED_KINDS.length);
  for (const report of REPORTS) {
    const model = `reports.${report.name.replaceAll('-', '_')}`;
    const rows = await askMirror(stage, database, `select * from ${model}`);
    expect(sorted(rows), report.name).toEqual(sorted(await answerOf(database, report)));
  }
});

test('MetricFlow gives the total of every metric, to 15 digits', async () => {
  const totals = Object.assign({}, ...(await Promise.all(REPORTS.map(totalsOf)))) as Totals;
  const asked = await askMetrics(stage, Object.keys(totals));
  expect(rounded(asked, 15)).toEqual(rounded(totals, 15));
});

type Totals = Readonly<Record<string, string>>;

/** The totals of a report's metrics by its rows; empty where nothing is known. */
async function totalsOf(report: Report): Promise<Totals> {
  const columns = Object.values(report.metrics).map(({ column }) => `cast(${column} as text)`);
  const rows = await askMirror(stage, 'PostgreSQL', `select ${columns.join(', ')} from (${report.sql}) r`);
  const totals = Object.entries(report.metrics).map(([name, { column }], at) => {
    const known = rows.map((row) => row[at] ?? null).filter((value) => value !== null);
    const sum = known.reduce((total, value) => total.plus(value), new Big(0));
    const total = column.endsWith('_e4') ? sum.div(10_000) : sum;
    return [name, known.length === 0 ? '' : total.toFixed()] as const;
  });
  return Object.fromEntries(totals);
}

test('Superset imports the reports as a dashboard, whose charts show what the reports answer', async () => {
  const setUp = await setUpSuperset(stage);
  for (const database of DATABASES) {
    const charts = await askDashboard(stage, database, setUp);
    expect(charts.map(({ report }) => report).sort()).toEqual(REPORTS.map(({ name }) => name).sort());
    for (const { report: name, rows, shown, totals } of charts) {
      const report = REPORTS.find((one) => one.name === name);
      if (report === undefined) continue;
      expect(rows, `${name} on ${database}`).toEqual(await answerOf(database, report));
      expect(shown.length > 0, `${name} on ${database}`).toBe(rows.length > 0);
      expect(rounded(totals, 14), `${name} on ${database}`).toEqual(rounded(await totalsOf(report), 14));
    }
  }
});

/** To the digits that floats keep. */
const rounded = (totals: Readonly<Record<string, string | null>>, digits: number): readonly string[] =>
  Object.entries(totals).map(
    ([name, total]) => `${name} ${total ? Number(total).toPrecision(digits) : 'unknown'}`,
  );

const countAfter = (output: string, word: string): number =>
  Number(new RegExp(`${word}=(\\d+)`).exec(output)?.[1] ?? NaN);
