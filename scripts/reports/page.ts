import { join } from 'node:path';
import type { Row } from '../../src/db/session/session.ts';
import { REPORTS } from '../../src/features/reports/read-reports.ts';
import { neededKinds, type Report } from '../../src/features/reports/report.ts';
import type { Plot } from './plot.ts';

/** Where the reports, their plots, their page and the dbt project are. */
export const REPORTING = join(import.meta.dirname, '../../docs/reporting');

const UNITS = 10_000;

/** The section of docs/reporting/reports.md about a report, with the columns of its answer. */
export function sectionOf(report: Report, rows: readonly Row[]): string {
  const { name, title, question, plot } = report;
  const columns = Object.keys(rows[0] ?? {}).map((column) => `\`${column}\``);
  return [
    `## ${title}`,
    question,
    notesOf(report)
      .map((note) => `- ${note}`)
      .join('\n'),
    `[\`${name}.sql\`](../../src/features/reports/catalogue/${name}.sql): ${columns.join(' ')}`,
    `![${plot.caption}](reports/${name}.svg)`,
  ].join('\n\n');
}

/** Notes of a report, with what it needs. */
export function notesOf(report: Report): readonly string[] {
  const needed = neededKinds(report);
  const need = `Needs ${needed.map((kind) => `\`${kind}\``).join(', ')} (\`includeKinds: [shop]\`).`;
  return needed.length === 0 ? report.notes : [need, ...report.notes];
}

/** A page with these texts between the marks of their names. */
export function pageWith(page: string, texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts).reduce((before, [name, text]) => {
    const marked = new RegExp(`(<!-- ${name} -->).*(<!-- /${name} -->)`, 's');
    if (!marked.test(before)) throw new Error(`The page has no <!-- ${name} --> … <!-- /${name} -->.`);
    return before.replace(marked, (_, open: string, close: string) => `${open}\n\n${text}\n\n${close}`);
  }, page);
}

/** The metrics of each report. */
export function metricsTable(): string {
  const rows = REPORTS.map(
    ({ name, metrics }) =>
      `| ${name} | ${Object.keys(metrics)
        .map((metric) => `\`${metric}\``)
        .join(' ')} |`,
  );
  return ['| report | metrics |', '| --- | --- |', ...rows].join('\n');
}

/** The values that a plot shows, summed by its label. */
export function plotOf({ plot }: Report, rows: readonly Row[]): Plot {
  const { caption, series, isTime, most } = plot;
  const sums = new Map<string, number[]>();
  for (const row of rows) {
    const names = plot.by.map((column) => row[column] ?? null);
    const label = names.includes(null) || names[0] === 'none' ? 'none' : names.join(' ');
    const before = sums.get(label);
    sums.set(
      label,
      valuesOf(plot, row).map((value, at) => value + (before?.[at] ?? 0)),
    );
  }
  const known = [...sums].filter(([label]) => label !== 'none').map(([label, values]) => ({ label, values }));
  return {
    caption,
    isTime,
    series: Object.keys(series),
    rows: isTime ? known.slice(-most) : known.toSorted(bySum).slice(0, most),
  };
}

/** By the first of their sums: a name may have a row for each company, branch and month. */
const bySum = (one: Plot['rows'][number], other: Plot['rows'][number]): number =>
  (other.values[0] ?? 0) - (one.values[0] ?? 0);

/** As floats, which are exact enough to draw. */
function valuesOf({ series }: Report['plot'], row: Row): number[] {
  return Object.values(series).map((column) =>
    column.endsWith('_e4') ? Number(row[column] ?? 0) / UNITS : Number(row[column] ?? 0),
  );
}
