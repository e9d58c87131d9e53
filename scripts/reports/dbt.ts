import { join } from 'node:path';
import { stringify } from 'yaml';
import { REPORTS } from '../../src/features/reports/read-reports.ts';
import { VIEW, neededKinds, type Report } from '../../src/features/reports/report.ts';
import { REPORTING, notesOf } from './page.ts';

/** Where they are. */
export const DBT_MODELS = join(REPORTING, 'dbt/models');

/**
 * The files of docs/reporting/dbt/models: a model for each report, what dbt tests of it, its semantic model and metrics, and sources enough
 * to begin with, which `dbt run-operation sources` replaces.
 */
export function dbtFiles(): ReadonlyMap<string, string> {
  const files = REPORTS.map(
    (report) => [`reports/${modelOf(report)}.sql`, `${configOf(report)}${sqlModel(report.sql)}`] as const,
  );
  return new Map([
    ...files,
    ['reports/reports.yml', yaml({ models: REPORTS.map(describedModel) })],
    ['semantic/time_spine.sql', sqlModel('select date as date_day from bi_calendar\n')],
    ['semantic/semantic.yml', yaml(semantics())],
    ['sources.yml', yaml(sources())],
  ]);
}

const yaml = (content: object): string => stringify(content, { lineWidth: 0, singleQuote: true });

const modelOf = ({ name }: Report): string => name.replaceAll('-', '_');

/** A model whose views may be missing is built only if somebody says that they are there: `--vars 'shop: true'`. */
const configOf = (report: Report): string =>
  neededKinds(report).length === 0 ? '' : "{{ config(enabled=var('shop', false)) }}\n";

const sqlModel = (sql: string): string =>
  sql.replaceAll(VIEW, (view) => `{{ source('bms_sync', '${view}') }}`);

function sources(): object {
  const views = REPORTS.flatMap(({ sql }) => sql.match(VIEW) ?? []);
  const tables = [...new Set(['bi_calendar', ...views])].sort().map((name) => ({ name }));
  const schema = "{{ 'mirror' if target.type == 'sqlite' else 'public' }}";
  return { sources: [{ name: 'bms_sync', schema, tables }] };
}

function describedModel(report: Report): object {
  const amounts = [...report.sql.matchAll(/, 2\) as (\w+)_exact\b/g)].map(([, name = '']) => name);
  const exact = amounts.map((name) => ({ exact_is_units: { arguments: { amount: name } } }));
  return {
    name: modelOf(report),
    description: `${report.question} ${notesOf(report).join(' ')}`,
    data_tests: [{ unique_together: { arguments: { columns: report.keys } } }, ...exact],
    columns: report.keys.map((name) => ({ name, data_tests: ['not_null'] })),
  };
}

function semantics(): object {
  const measured = REPORTS.flatMap((report) =>
    Object.entries(report.metrics).map(([name, metric]) => ({ name, metric, ...enabledOf(report) })),
  );
  return {
    models: [
      {
        name: 'time_spine',
        description: 'The days from 2000 to 2049.',
        time_spine: { standard_granularity_column: 'date_day' },
        columns: [{ name: 'date_day', granularity: 'day', data_tests: ['unique', 'not_null'] }],
      },
    ],
    semantic_models: REPORTS.map(semanticModel),
    metrics: measured.map(({ name, metric, ...enabled }) => {
      const label = name.replaceAll('_', ' ');
      const params = { type: 'simple', type_params: { measure: name } };
      return { name, label, description: metric.question, ...params, ...enabled };
    }),
  };
}

/** Metrics of a model that is not built would have no table. */
const enabledOf = (report: Report): object =>
  neededKinds(report).length === 0 ? {} : { config: { enabled: "{{ var('shop', false) | as_bool }}" } };

function semanticModel(report: Report): object {
  const { keys, time, labels, metrics } = report;
  const time_granularity = time ?? 'day';
  const expr = time === null ? 'current_date' : `cast(${dayOf(time)} as date)`;
  const categories = [...keys.filter((name) => name !== time), ...labels];
  return {
    name: modelOf(report),
    description: report.question,
    model: `ref('${modelOf(report)}')`,
    ...enabledOf(report),
    defaults: { agg_time_dimension: 'at' },
    entities: [{ name: `${modelOf(report)}_row`, type: 'primary', expr: keys.join(" || ' ' || ") }],
    dimensions: [
      { name: 'at', type: 'time', expr, type_params: { time_granularity } },
      ...categories.map((name) => ({ name, type: 'categorical' })),
    ],
    measures: Object.entries(metrics).map(([name, metric]) => ({ name, agg: 'sum', expr: figureOf(metric) })),
  };
}

/** A time of a report as text of a day; null for `none`. */
function dayOf(time: NonNullable<Report['time']>): string {
  const known = `nullif(${time}, 'none')`;
  if (time === 'quarter')
    return `(substr(${known}, 1, 5) || substr('01040710', 2 * cast(substr(${known}, 7, 1) as integer) - 1, 2) || '-01')`;
  return time === 'month' ? `(${known} || '-01')` : known;
}

/** Whole units, exactly: no division. */
const figureOf = ({ column }: Report['metrics'][string]): string =>
  column.endsWith('_e4') ? `${column} * 0.0001` : column;
