import { Big } from 'big.js';
import { translatorFor, type MessageKey, type Translator } from '../../lib/text/translator.ts';
import { readyKinds } from '../../catalog/declared-kinds.ts';
import type { parseReport } from './read-reports.ts';

/** A report as its file has it: its page, plot, dbt model, semantic model and Superset's chart are all made of this. */
export type Report = ReturnType<typeof parseReport>;

/** The text of so many units of 0.0001. */
export const amountOf = (units: Big | string): string => new Big(units).times('0.0001').toFixed(4);

/** A view of the mirror in the SQL of a report. */
export const VIEW = /\bbi_\w+/g;

/** The kinds of ready files that a report reads: without them its views are not there. */
export const neededKinds = (report: Pick<Report, 'sql'>): readonly string[] =>
  SHOP_KINDS.filter((kind) => new RegExp(`\\bbi_${kind}\\b`).test(report.sql));

const SHOP_KINDS = readyKinds('shop').map((kind) => kind.name);

/** Describes what a report lacks in this mirror; null if all its views are there. */
export function describeMissing(
  report: Report,
  views: readonly string[],
  { t, language }: Translator = translatorFor('en'),
): string | null {
  const missing = neededKinds(report).filter((kind) => !views.includes(`bi_${kind}`));
  if (missing.length === 0) return null;
  const title = language === 'fr' ? report.inFrench.title : report.title;
  return t(MISSING, { title, kinds: missing.join(', ') });
}

const OF_ALL_KINDS = ['bi_changes', 'bi_issues', 'bi_drift', 'bi_sync_status', 'bi_statuses'];

const MISSING: MessageKey =
  '{title} needs {kinds}, which this mirror does not read: set includeKinds: [shop], then run bms-sync migrate and bms-sync pull.';

/**
 * The kinds whose records some views show; null = all that the service lists. Of the views of all kinds, a report shows the kinds that
 * its text names, if it names any, read by this mirror or not; of a stranger's select nobody knows.
 */
export function kindsOfViews(
  views: readonly string[],
  kinds: readonly { readonly name: string }[],
  text = '',
): readonly string[] | null {
  const names = kinds.map((kind) => kind.name);
  const isOfAll = views.some((view) => OF_ALL_KINDS.includes(view));
  const isNamed = (name: string): boolean => isOfAll && text.includes(`'${name}'`);
  if (isOfAll && ![...names, ...SHOP_KINDS].some(isNamed)) return null;
  return names.filter((name) => isNamed(name) || views.some((view) => kindOfView(view, names) === name));
}

const KIND_OF_VIEW: Readonly<Record<string, string>> = {
  client_contacts: 'clients',
  bi_price_changes: 'products',
  bi_purchase_statuses: 'purchases',
};

function kindOfView(view: string, kinds: readonly string[]): string | undefined {
  const table = KIND_OF_VIEW[view] ?? view.replace(/^bi_(?:deleted_)?/, '');
  const owners = kinds.filter((kind) => table === kind || table.startsWith(`${kind}_`));
  return owners.toSorted((a, b) => b.length - a.length)[0];
}
