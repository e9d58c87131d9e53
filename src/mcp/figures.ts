import { identifier, literal } from '../db/session/sql-text.ts';
import { UsageError } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { REPORTS } from '../report/catalogue/catalogue.ts';
import { VIEW, describeMissing, type Report } from '../report/catalogue/report.ts';
import { listUnproven, type Findings, type KindStates } from './answer.ts';
import { kindsOfViews, type ToolContext } from './context.ts';

/** A metric of the catalogue, with its report. */
export interface NamedMetric {
  readonly name: string;
  readonly column: string;
  readonly question: string;
  readonly report: Report;
}

/** Every metric that `figure` computes. */
export const METRICS: readonly NamedMetric[] = REPORTS.flatMap((report) =>
  Object.entries(report.metrics).map(([name, metric]) => ({ name, ...metric, report })),
);

/** The columns that can group a metric. */
export const groupsOf = (report: Report): readonly string[] => [...report.keys, ...report.labels];

/** The input of `figure`. */
interface FigureInput {
  readonly metric: string;
  readonly by?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const MOST_GROUPS = 200;
const TIMEOUT_MS = 30_000;

/** Computes a metric over all rows of its report, in the database. @throws {UsageError} `mcp.figure` for an unknown metric, group or time. */
export async function readFigure(
  context: ToolContext,
  input: FigureInput,
  states: KindStates,
): Promise<Findings> {
  const metric = METRICS.find((named) => named.name === input.metric);
  if (metric === undefined) {
    const names = METRICS.map((named) => named.name);
    const suggestion = didYouMean(input.metric, names) || '.';
    throw figureError(`Unknown metric "${input.metric}"${suggestion}`, names.join(', '));
  }
  const kindViews = context.kinds.map((kind) => `bi_${kind.name}`);
  const missing = describeMissing(metric.report, kindViews);
  if (missing !== null) throw new UsageError(missing, { code: 'mcp.figure', hint: NO_SHOP });
  const groups = groupsOfInput(metric, input.by);
  const sql = figureSql(metric, groups, input);
  const question = { sql, limit: MOST_GROUPS, timeoutMs: TIMEOUT_MS, views: null };
  const { rows, isTruncated } = await context.readSql(question);
  const views = [...metric.report.sql.matchAll(VIEW)].map(([name]) => name);
  const kinds = kindsOfViews(views, context.kinds);
  // A list that is proven to be empty sums to 0; for any other list, an empty report proves nothing.
  const isProvenEmpty = rows[0]?.at(-1) === '0' && listUnproven(kinds, states, 'en').length === 0;
  const shown = rows.map((row) => [
    ...row.slice(0, groups.length),
    valueText(metric, isProvenEmpty ? '0' : (row.at(-2) ?? null)),
  ]);
  return {
    columns: [...groups, metric.name],
    rows: shown,
    isTruncated,
    totalRows: groups.length === 0 ? shown.length : Number(rows[0]?.at(-1) ?? 0),
    kinds,
    more: {
      question: metric.question,
      report: `bms://reports/${metric.report.name}`,
      notes: metric.report.notes,
    },
  };
}

const NO_SHOP = 'Choose another metric, or ask an admin to read these kinds (docs/further-kinds.md).';

const figureError = (message: string, names: string): UsageError =>
  new UsageError(message, { code: 'mcp.figure', hint: `Known: ${names}.` });

function groupsOfInput(metric: NamedMetric, by: string | undefined): readonly string[] {
  const groups = by?.split(',').map((column) => column.trim()) ?? [];
  const unknown = groups.find((column) => !groupsOf(metric.report).includes(column));
  if (unknown === undefined) return groups;
  throw figureError(`${metric.name} cannot be grouped by "${unknown}".`, groupsOf(metric.report).join(', '));
}

/** Writes an amount in units of 0.0001 as a decimal. */
function valueText(metric: NamedMetric, value: string | null): string | null {
  if (value === null || !metric.column.endsWith('_e4')) return value;
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(value) ?? [];
  const padded = digits.padStart(5, '0');
  return `${sign}${padded.slice(0, -4)}.${padded.slice(-4)}`;
}

function figureSql(
  { name, column, report }: NamedMetric,
  groups: readonly string[],
  input: FigureInput,
): string {
  const names = groups.map((group) => `cast(${identifier(group)} as text)`);
  const { time } = report;
  const limits = Object.entries({ '>=': input.from, '<=': input.to }).flatMap(([operator, at]) =>
    at === undefined
      ? []
      : [`${identifier(time?.column ?? '')} ${operator} ${literal(limitOf(name, report, at))}`],
  );
  if (limits.length > 0) limits.push(`${identifier(time?.column ?? '')} <> 'none'`);
  const where = limits.length === 0 ? '' : `where ${limits.join(' and ')}`;
  const sum = `cast(sum(${identifier(column)}) as text)`;
  const list = groups.length === 0 ? `${sum}, count(*)` : `${names.join(', ')}, ${sum}, count(*) over ()`;
  const group = names.length === 0 ? '' : `group by ${names.join(', ')} order by ${names.join(', ')}`;
  return `select ${list} from (${report.sql}) r ${where} ${group}`;
}

/** The first or last time that counts, as the report writes it: a month, or a day. */
function limitOf(name: string, report: Report, at: string): string {
  if (report.time === null) throw figureError(`${name} shows the present: it has no time.`, 'metric and by');
  const form = report.time.grain === 'month' ? /^\d{4}-\d\d(?=-\d\d$|$)/ : /^\d{4}-\d\d-\d\d$/;
  const [limit] = form.exec(at) ?? [];
  if (limit === undefined)
    throw figureError(`"${at}" is not a ${report.time.grain}.`, 'YYYY-MM-DD, or YYYY-MM for months');
  return limit;
}
