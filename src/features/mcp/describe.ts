import { sql } from 'drizzle-orm';
import { orNull, readRows } from '../../db/rows/rows.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import type { Language } from '../../lib/text/translator.ts';
import { REPORTS } from '../reports/read-reports.ts';
import { readStatuses } from '../../views/statuses-view.ts';
import type { KindStates } from './answer.ts';
import { kindsOfViews, readOwnViews, type ToolContext } from './context.ts';

/** Describes every view, report, status and kind, one line each. */
export async function describeMirror(context: ToolContext, states: KindStates, language: Language) {
  const views = await readOwnViews(context);
  const statuses = await readStatuses(context.session);
  const rows = [
    ...views.map((view) => ['view', view.name, view.meaning[language]]),
    ...REPORTS.map((report) => ['report', report.name, report.question]),
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
  const kinds = context.kinds.map((kind) => kind.name);
  return { columns: ['what', 'name', 'meaning'], rows, kinds };
}

const DESCRIBED = { column: String, type: String, label: String, meaning: String };
const COLUMN = { ...DESCRIBED, unit: orNull(String), refersTo: orNull(String) };

/** Describes the columns of a view. @throws {UsageError} `mcp.view` for an unknown view. */
export async function describeView(context: ToolContext, view: string, language: Language) {
  const names = (await readOwnViews(context)).map((own) => own.name);
  if (!names.includes(view))
    throw new UsageError(`Unknown view "${view}"${didYouMean(view, names) || '.'}`, {
      code: 'mcp.view',
      hint: 'describe without a view lists them.',
    });
  const described = view === 'client_contacts' ? 'bi_clients_contacts' : view;
  const columns = await readRows(
    context.session,
    COLUMN,
    sql`
      select d."column", d.type, d.unit, ${sql.identifier(`label_${language}`)} as label,
        ${sql.identifier(language === 'fr' ? 'meaning_fr' : 'meaning')} as meaning,
        (select r.to_view || '.' || r.to_column from bi_relations r
          where r.view = d.view and r."column" = d."column" limit 1) as refers_to
      from bi_dictionary d where d.view = ${described} order by d.ordinal`,
  );
  return {
    columns: ['column', 'type', 'unit', 'label', 'meaning', 'refers_to'],
    rows: columns.map((row) => [row.column, row.type, row.unit, row.label, row.meaning, row.refersTo]),
    kinds: kindsOfViews([view], context.kinds),
  };
}
