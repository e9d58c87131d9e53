import { runReport, type ReportRequest } from '../reports/run-report.ts';
import type { Findings } from './answer.ts';
import type { Caller, ToolContext } from './context.ts';
import { MOST_ROWS, QUERY_MS } from './sql/question.ts';

/** More than an answer shows, of which some columns may have no value. */
const ROWS_READ = 5_000;

/** Runs a ready report over all rows, or those of some days. @throws {UsageError} As `runReport` does. */
export async function answerReport(
  context: ToolContext,
  caller: Caller,
  request: Omit<ReportRequest, 'language'>,
): Promise<Findings> {
  const views = context.kinds.map((kind) => `bi_${kind.name}`);
  const read = (sql: string) =>
    context.readSql({ sql, limit: ROWS_READ, timeoutMs: QUERY_MS, views: null }, caller);
  const answer = await runReport(context.session, views, { ...request, language: caller.language }, read);
  const { columns, rows, kinds, ...more } = answer;
  return { columns, rows: rows.slice(0, MOST_ROWS), isTruncated: rows.length > MOST_ROWS, kinds, more };
}
