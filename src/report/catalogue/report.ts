import { readyKinds } from '../../catalog/declared-kinds.ts';

/** A column of a report that a plot shows, under the name that a reader sees; `_e4` columns are shown in whole units. */
type Series = Readonly<Record<string, string>>;

/** One entry of the catalogue: its SQL, page, plot, dbt model, semantic model and Superset's chart are all made of this. */
export interface Report {
  readonly name: string;
  readonly title: string;
  readonly question: string;
  /** What a reader must know before trusting it. */
  readonly notes: readonly string[];
  /** Runs unchanged on both databases. */
  readonly sql: string;
  /** The columns that name a row together; none of them is ever null. */
  readonly keys: readonly string[];
  /** The column of its times, as texts; null: it shows the present. */
  readonly time: { readonly column: string; readonly grain: 'day' | 'week' | 'month' } | null;
  /** Further columns to group figures by. */
  readonly labels: readonly string[];
  /** The figures that add up over its rows, by the name of their metric. */
  readonly metrics: Readonly<Record<string, Metric>>;
  /** The table of the page shows these columns; all where none are named. */
  readonly shown?: readonly string[];
  readonly plot: ReportPlot;
}

/** A report as its file writes it. */
export interface WrittenReport extends Omit<Report, 'time' | 'labels' | 'plot'> {
  /** The grain, which is the name of the column, too. */
  readonly time: NonNullable<Report['time']>['grain'] | null;
  readonly labels?: readonly string[];
  /** Without `by`, its bars are named by the time, or else by the labels. */
  readonly plot: Pick<ReportPlot, 'caption' | 'series'> & Partial<Pick<ReportPlot, 'by'>>;
}

/** Adds what follows from the rest: the last twelve times are plotted, or the first ten names. */
export function completeReport({ time, labels = [], plot, ...report }: WrittenReport): Report {
  const { by = time === null ? labels : [time] } = plot;
  const isTime = time !== null && by.includes(time);
  return {
    ...report,
    labels,
    time: time && { column: time, grain: time },
    plot: { ...plot, by, isTime, most: isTime ? 12 : 10 },
  };
}

/** A view of the mirror in the SQL of a report. */
export const VIEW = /\bbi_\w+/g;

/** The kinds of ready files that a report reads: without them its views are not there. */
export const neededKinds = (report: Pick<Report, 'sql'>): readonly string[] =>
  SHOP_KINDS.filter((kind) => new RegExp(`\\bbi_${kind}\\b`).test(report.sql));

const SHOP_KINDS = readyKinds('shop').map((kind) => kind.name);

/** Describes what a report lacks in this mirror; null if all its views are there. */
export function describeMissing(report: Report, views: readonly string[]): string | null {
  const missing = neededKinds(report).filter((kind) => !views.includes(`bi_${kind}`));
  if (missing.length === 0) return null;
  return `${report.title} needs ${missing.join(', ')}, which this mirror does not read: set includeKinds: [shop], then run bms-sync pull.`;
}

export interface Metric {
  readonly column: string;
  readonly question: string;
}

/** The sums of some columns for each time or name. */
export interface ReportPlot {
  readonly caption: string;
  /** The columns that name a bar together. */
  readonly by: readonly string[];
  readonly isTime: boolean;
  readonly series: Series;
  /** How many values are plotted: the last times, or the first names. */
  readonly most: number;
}
