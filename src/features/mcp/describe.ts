import { identifier, literal } from '../../db/session/sql-text.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import type { Language } from '../../lib/text/translator.ts';
import { kindsOfViews } from '../reports/report.ts';
import { cellReader, listReports } from '../reports/run-report.ts';
import { isSearchField } from '../../store/tables/search-text.ts';
import { readStatuses } from '../../views/statuses-view.ts';
import { readOwnViews } from '../../views/views.ts';
import type { Findings, KindStates } from './answer.ts';
import type { ToolContext } from './context.ts';

/** Describes every view, report, status and kind, one line each. */
export async function describeMirror(context: ToolContext, states: KindStates, language: Language) {
  const { session, kinds } = context;
  const views = await readOwnViews(session, kinds);
  const shown = views.filter(({ name }) => !/^bi_deleted_|_history$/.test(name)); // Each kind has both.
  const rows = [
    ...shown.map((view) => ['view', view.name, view.meaning[language]]),
    ...listReports([], language).map(({ name, question }) => ['report', name, question]),
    ...(await readStatuses(session)).map(({ kind, status, records, countsAs }) => [
      'status',
      `${kind}: ${status}`,
      `${records} records, counted as ${countsAs ?? 'nothing'}`,
    ]),
    ...states.freshness.map((freshness) => {
      const readAt = freshness.lastSweepAt ?? 'never';
      return ['kind', freshness.kind, `${freshness.state}, last read: ${readAt}`];
    }),
  ];
  return { columns: ['what', 'name', 'meaning'], rows, kinds: null };
}

/** Describes the columns of a view. @throws {UsageError} `mcp.view` for an unknown view. */
export async function describeView(context: ToolContext, view: string, language: Language) {
  const names = (await readOwnViews(context.session, context.kinds)).map((own) => own.name);
  if (!names.includes(view))
    throw new UsageError(`Unknown view "${view}"${didYouMean(view, names) || '.'}`, {
      code: 'mcp.view',
      hint: 'describe without a view lists them.',
    });
  const { columns, rows } = await cellReader(context.session)(`
    select d."column", d.type, d.unit, d.meaning${language === 'fr' ? '_fr' : ''} as meaning, (select r.to_view || '.' || r.to_column from bi_relations r
      where r.view = d.view and r."column" = d."column" limit 1) as refers_to
    from bi_dictionary d where d.view = ${literal(view === 'client_contacts' ? 'bi_clients_contacts' : view)} order by d.ordinal`);
  const kinds = kindsOfViews([view], context.kinds);
  const lists = view === `bi_${kinds?.join()}` ? await readLists(context, view, rows) : null;
  const valued = rows.map((row) => [...row, lists?.get(row[0] ?? '') ?? null]);
  return { columns: [...columns, 'values'], rows: valued, kinds };
}

/** Fields whose values are a list that the service does not document. */
const LISTS = ['status', 'type', 'unit', 'term', 'currency', 'category_type'];
/** Fields that may name a person, and values that name none: a word of small letters, or a short number. */
const [PERSONAL, CODE] = [/^_|_by$|user|login|nam|nom/i, /^(?!\d{7})[a-z\d][\w.-]{0,23}$/];

/**
 * Reads the values of lists, from the newest records: of these fields, and of others by which nobody searches, with at most 20 codes in
 * 1,000 records. They are kept nowhere, so nothing stays of a field that is excluded or a record that is forgotten.
 */
async function readLists({ session }: ToolContext, view: string, columns: Findings['rows']) {
  const selects = columns.flatMap(([name = null, type, , , refersTo]) => {
    if (name === null || (type !== 'text' && type !== 'integer') || refersTo !== null || PERSONAL.test(name))
      return [];
    const value = `cast(${identifier(name)} as text)`;
    const all = `select ${literal(name)} as name, ${value} as value, count(*) as n from newest group by ${value}`;
    return isSearchField({ name, type }) ? [] : [`select * from (${all} limit 22) as l`];
  });
  const { rows } = await cellReader(session)(`
    with newest as (select * from ${view} order by id desc limit 10000) ${selects.join(' union all ')} order by 1, 2`);
  const lists = [...Map.groupBy(rows, ([name]) => name ?? '')].filter(([name, found]) => {
    const records = found.reduce((sum, [, , n]) => sum + Number(n), 0);
    const isCoded = records >= 1_000 && found.every(([, value]) => CODE.test(value || 'none'));
    return found.length <= 20 && (isCoded || LISTS.includes(name));
  });
  return new Map(lists.map(([name, found]) => [name, found.flatMap(([, value]) => value || []).join(', ')]));
}
