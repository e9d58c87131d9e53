import { UsageError } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { REPORTS } from '../report/read-reports.ts';
import { VIEW, describeMissing } from '../report/report.ts';
import type { Findings } from './answer.ts';
import { kindsOfViews, type Caller, type ToolContext } from './context.ts';
import { MOST_ROWS, QUERY_MS } from './sql/question.ts';

/** Runs a ready report as it is shipped, over all rows. @throws {UsageError} `mcp.report` for one that cannot be run here. */
export async function runReport(context: ToolContext, caller: Caller, name: string): Promise<Findings> {
  const report = REPORTS.find((each) => each.name === name);
  const names = REPORTS.map((each) => each.name);
  if (report === undefined)
    throw new UsageError(`Unknown report "${name}"${didYouMean(name, names) || '.'}`, {
      code: 'mcp.report',
      hint: `The reports are: ${names.join(', ')}.`,
    });
  const kindViews = context.kinds.map((kind) => `bi_${kind.name}`);
  const missing = describeMissing(report, kindViews);
  if (missing !== null) throw new UsageError(missing, { code: 'mcp.report', hint: NO_SHOP });
  const { sql, question, notes } = report;
  const answer = await context.readSql({ sql, limit: MOST_ROWS, timeoutMs: QUERY_MS, views: null }, caller);
  const views = [...sql.matchAll(VIEW)].map(([view]) => view);
  return {
    ...answer,
    kinds: kindsOfViews(views, context.kinds),
    more: { question, notes },
  };
}

const NO_SHOP = 'Choose another report, or ask an admin to read these kinds (docs/further-kinds.md).';
