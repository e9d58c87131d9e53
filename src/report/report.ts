import { readyKinds } from '../catalog/declared-kinds.ts';

/** A report as its file has it: its page, plot, dbt model, semantic model and Superset's chart are all made of this. */
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
  /** The column of its times, as texts, and their grain; null: it shows the present. */
  readonly time: 'day' | 'week' | 'month' | null;
  /** Further columns to group figures by. */
  readonly labels: readonly string[];
  /** The figures that add up over its rows, by the name of their metric. */
  readonly metrics: Readonly<Record<string, Metric>>;
  /** The table of the page shows these columns; all where none are named. */
  readonly shown: readonly string[];
  readonly plot: ReportPlot;
}

export interface Metric {
  readonly column: string;
  readonly question: string;
}

/** The sums of some columns for each time or name. */
export interface ReportPlot {
  readonly caption: string;
  /** The columns that name a bar together: the time, or else the labels, where the file names none. */
  readonly by: readonly string[];
  readonly isTime: boolean;
  /** Columns under the names that a reader sees; `_e4` columns are shown in whole units. */
  readonly series: Readonly<Record<string, string>>;
  /** How many values are plotted: the last times, or the first names. */
  readonly most: number;
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
