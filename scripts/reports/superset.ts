import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { REPORTS } from '../../src/features/reports/read-reports.ts';
import { neededKinds, type Report } from '../../src/features/reports/report.ts';
import { notesOf } from './page.ts';

/** The folder that Superset imports once it is zipped. */
export const STARTER = join(import.meta.dirname, '../../deploy/superset');

const VERSION = '1.0.0';
/** As docs/reporting names it. */
const ADDRESS = 'postgresql+psycopg2://analyst:secret@localhost:5432/mirror';
const COLUMNS_OF_GRID = 12;
const CHARTS_A_ROW = 2;
const CHART_HEIGHT = 60;

/** The files of the starter: a database, and for each report a dataset with its SQL and a chart, on one dashboard. */
export function starterFiles(): ReadonlyMap<string, string> {
  const files: readonly (readonly [string, object])[] = [
    ['metadata.yaml', { version: VERSION, type: 'Dashboard' }],
    ['databases/mirror.yaml', databaseFile()],
    ...REPORTS.flatMap((report) => [
      [`datasets/mirror/${report.name}.yaml`, datasetFile(report)] as const,
      [`charts/${report.name}.yaml`, chartFile(report)] as const,
    ]),
    ['datasets/mirror/freshness.yaml', freshnessDataset()],
    ['charts/freshness.yaml', FRESHNESS_CHART],
    [
      'dashboards/bms-sync-reports.yaml',
      dashboardFile(
        REPORTS.filter((report) => !needsShop(report)),
        '',
      ),
    ],
    ['dashboards/bms-sync-shop.yaml', dashboardFile(REPORTS.filter(needsShop), ' of the shop')],
  ];
  return new Map(
    files.map(([name, content]) => [name, stringify(content, { lineWidth: 0, singleQuote: true })]),
  );
}

const databaseFile = (): object => ({
  database_name: 'bms-sync mirror',
  sqlalchemy_uri: ADDRESS,
  uuid: uuidOf('database'),
  expose_in_sqllab: true,
  allow_run_async: false,
  allow_ctas: false,
  allow_cvas: false,
  allow_dml: false,
  allow_csv_upload: false,
  extra: {},
  version: VERSION,
});

function datasetFile(report: Report): object {
  const { by, series } = report.plot;
  return {
    table_name: report.name,
    description: report.question,
    schema: null,
    sql: report.sql,
    uuid: uuidOf(`dataset ${report.name}`),
    database_uuid: uuidOf('database'),
    columns: [
      ...[...new Set([...report.keys, ...by])].map((name) =>
        columnOf(name, NUMBERS.has(name) ? 'BIGINT' : 'TEXT'),
      ),
      ...Object.values(series).map((name) => columnOf(name, 'BIGINT')),
    ],
    metrics: Object.entries(report.metrics).map(([metric_name, { column, question }]) => ({
      metric_name,
      verbose_name: metric_name.replaceAll('_', ' '),
      description: question,
      expression: sumOf(column),
    })),
    version: VERSION,
  };
}

/** Keys that are numbers. */
const NUMBERS = new Set(['company', 'branch', 'client_id', 'provider_id', 'product_id', 'user_id', 'seq']);

/** How fresh the figures are: a table below the charts. */
const FRESHNESS = 'freshness';
const FRESHNESS_COLUMNS = ['kind', 'state', 'reason', 'last_sweep_at', 'lag_seconds'];
const freshnessDataset = (): object => ({
  table_name: FRESHNESS,
  description: 'How fresh and how complete the copy of each record kind is.',
  schema: null,
  sql: `select ${FRESHNESS_COLUMNS.join(', ')} from bi_sync_status`,
  uuid: uuidOf(`dataset ${FRESHNESS}`),
  database_uuid: uuidOf('database'),
  columns: FRESHNESS_COLUMNS.map((name) => columnOf(name, name === 'lag_seconds' ? 'BIGINT' : 'TEXT')),
  metrics: [],
  version: VERSION,
});
const FRESHNESS_CHART = {
  slice_name: 'How fresh these figures are',
  viz_type: 'table',
  params: {
    viz_type: 'table',
    query_mode: 'raw',
    all_columns: FRESHNESS_COLUMNS,
    order_by_cols: ['["lag_seconds", false]'],
    row_limit: 100,
  },
  uuid: uuidOf(`chart ${FRESHNESS}`),
  dataset_uuid: uuidOf(`dataset ${FRESHNESS}`),
  version: VERSION,
};

const columnOf = (name: string, type: string): object => ({
  column_name: name,
  type,
  is_dttm: false,
  groupby: true,
  filterable: true,
});

function chartFile(report: Report): object {
  return {
    slice_name: report.title,
    description: notesOf(report).join(' '),
    viz_type: VIZ_TYPE,
    params: paramsOf(report),
    uuid: uuidOf(`chart ${report.name}`),
    dataset_uuid: uuidOf(`dataset ${report.name}`),
    version: VERSION,
  };
}

const VIZ_TYPE = 'echarts_timeseries_bar';

/** A bar for each time, or for the names with the largest first series. */
function paramsOf({ plot }: Report): object {
  const metrics = Object.entries(plot.series).map(([label, column]) => ({
    expressionType: 'SQL',
    hasCustomLabel: true,
    label,
    optionName: `metric_${column}`,
    sqlExpression: sumOf(column),
  }));
  return {
    viz_type: VIZ_TYPE,
    x_axis: axisOf(plot),
    metrics,
    groupby: [],
    adhoc_filters: [],
    orientation: plot.isTime ? 'vertical' : 'horizontal',
    stack: 'Stack',
    ...(plot.isTime
      ? { row_limit: 10_000, x_axis_sort: axisName(plot), x_axis_sort_asc: true, zoomable: true }
      : { row_limit: plot.most, order_desc: true, x_axis_sort: metrics[0]?.label, x_axis_sort_asc: true }),
    show_value: true,
    only_total: true,
    show_legend: metrics.length > 1,
    rich_tooltip: true,
    y_axis_format: ',.0f',
  };
}

/** In whole units. */
const sumOf = (column: string): string =>
  column.endsWith('_e4') ? `SUM(${column}) / 10000.0` : `SUM(${column})`;

const axisName = ({ by }: Pick<Report['plot'], 'by'>): string => by.join(' and ');

/** A column, or several put together: a code beside the name, as two records may have one name. */
function axisOf({ by }: Report['plot']): string | object {
  const [only = '', ...others] = by;
  if (others.length === 0) return only;
  return {
    expressionType: 'SQL',
    label: axisName({ by }),
    sqlExpression: `coalesce(${by.join(" || ' ' || ")}, 'none')`,
  };
}

/** Charts that need the shop's kinds stand on a dashboard of their own: elsewhere they would fail. */
const needsShop = (report: Report): boolean => neededKinds(report).length > 0;

type PlacedChart = Pick<Report, 'name' | 'title'>;

function dashboardFile(reports: readonly Report[], of: string): object {
  const charts: readonly PlacedChart[] = [...reports, { name: FRESHNESS, title: FRESHNESS_CHART.slice_name }];
  const rows = Array.from({ length: Math.ceil(charts.length / CHARTS_A_ROW) }, (_, at) => at);
  const title = `bms-sync reports${of}`;
  return {
    dashboard_title: title,
    slug: title.replaceAll(' ', '-'),
    published: true,
    uuid: uuidOf(`dashboard${of}`),
    position: {
      DASHBOARD_VERSION_KEY: 'v2',
      ROOT_ID: { type: 'ROOT', id: 'ROOT_ID', children: ['GRID_ID'] },
      GRID_ID: { type: 'GRID', id: 'GRID_ID', children: rows.map(rowId), parents: ['ROOT_ID'] },
      HEADER_ID: { type: 'HEADER', id: 'HEADER_ID', meta: { text: title } },
      ...Object.fromEntries(rows.map((at) => [rowId(at), rowOf(charts, at)])),
      ...Object.fromEntries(charts.map((chart, at) => [chartId(chart), placeOf(chart, at)])),
    },
    metadata: {
      cross_filters_enabled: false,
      native_filter_configuration: ['company', 'branch', 'currency', 'quarter', 'month', 'week', 'day']
        .map((column) => filterOf(column, reports))
        .filter(({ targets }) => targets.length > 0),
    },
    version: VERSION,
  };
}

/** A filter of the dashboard by a column that some of its reports have. */
const filterOf = (column: string, reports: readonly Report[]) => ({
  id: `NATIVE_FILTER-${column}`,
  name: column,
  type: 'NATIVE_FILTER',
  filterType: 'filter_select',
  targets: reports
    .filter(({ keys }) => keys.includes(column))
    .map(({ name }) => ({ datasetUuid: uuidOf(`dataset ${name}`), column: { name: column } }))
    .slice(0, 1),
  scope: { rootPath: ['ROOT_ID'], excluded: [] },
  defaultDataMask: { filterState: {} },
  cascadeParentIds: [],
  controlValues: { multiSelect: true, enableEmptyFilter: false },
});

const rowId = (at: number): string => `ROW-${at + 1}`;
const chartId = ({ name }: PlacedChart): string => `CHART-${name}`;

const rowOf = (charts: readonly PlacedChart[], at: number): object => ({
  type: 'ROW',
  id: rowId(at),
  parents: ['ROOT_ID', 'GRID_ID'],
  children: charts.slice(at * CHARTS_A_ROW, (at + 1) * CHARTS_A_ROW).map(chartId),
  meta: { background: 'BACKGROUND_TRANSPARENT' },
});

const placeOf = (report: PlacedChart, at: number): object => ({
  type: 'CHART',
  id: chartId(report),
  children: [],
  parents: ['ROOT_ID', 'GRID_ID', rowId(Math.floor(at / CHARTS_A_ROW))],
  meta: {
    chartId: at + 1,
    uuid: uuidOf(`chart ${report.name}`),
    sliceName: report.title,
    width: COLUMNS_OF_GRID / CHARTS_A_ROW,
    height: CHART_HEIGHT,
  },
});

/** An id that stays the same from release to release, so that a second import replaces the first. */
function uuidOf(what: string): string {
  const digits = createHash('sha256').update(`bms-sync superset ${what}`).digest('hex');
  const groups = [
    [0, 8],
    [8, 12],
    [13, 16],
    [17, 20],
    [20, 32],
  ].map(([from, to]) => digits.slice(from, to));
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = groups;
  return `${first}-${second}-5${third}-a${fourth}-${fifth}`;
}
