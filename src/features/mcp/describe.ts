import { literal } from '../../db/session/sql-text.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import type { Language } from '../../lib/text/translator.ts';
import { cellReader, listReports } from '../reports/run-report.ts';
import { readStatuses } from '../../views/statuses-view.ts';
import type { KindStates } from './answer.ts';
import { kindsOfViews, readOwnViews, type ToolContext } from './context.ts';

/** Describes every view, report, status and kind, one line each. */
export async function describeMirror(context: ToolContext, states: KindStates, language: Language) {
  const statuses = await readStatuses(context.session);
  const shown = (await readOwnViews(context)).filter(({ name }) => !/^bi_deleted_|_history$/.test(name)); // Each kind has both.
  const rows = [
    ...shown.map((view) => ['view', view.name, view.meaning[language]]),
    ...listReports([], language).map(({ name, question }) => ['report', name, question]),
    ...statuses.map(({ kind, status, records, countsAs }) => [
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
  const names = (await readOwnViews(context)).map((own) => own.name);
  if (!names.includes(view))
    throw new UsageError(`Unknown view "${view}"${didYouMean(view, names) || '.'}`, {
      code: 'mcp.view',
      hint: 'describe without a view lists them.',
    });
  const { columns, rows } = await cellReader(context.session)(`
    select d."column", d.type, d.unit, d.meaning${language === 'fr' ? '_fr' : ''} as meaning, (select r.to_view || '.' || r.to_column from bi_relations r
      where r.view = d.view and r."column" = d."column" limit 1) as refers_to
    from bi_dictionary d where d.view = ${literal(view === 'client_contacts' ? 'bi_clients_contacts' : view)} order by d.ordinal`);
  return { columns, rows, kinds: kindsOfViews([view], context.kinds) };
}
