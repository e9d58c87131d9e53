import { readyKinds } from '../../catalog/declared-kinds.ts';
import type { parseReport } from './read-reports.ts';

/** A report as its file has it: its page, plot, dbt model, semantic model and Superset's chart are all made of this. */
export type Report = ReturnType<typeof parseReport>;

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
  return `${report.title} needs ${missing.join(', ')}, which this mirror does not read: set includeKinds: [shop], then run bms-sync migrate and bms-sync pull.`;
}
