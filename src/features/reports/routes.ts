import * as z from 'zod';
import { sendDocument } from '../../http/send.ts';
import type { RouteContext, Server } from '../../http/server.ts';
import { reportSource } from './report-source.ts';
import { listReports, runReport } from './run-report.ts';
import { readViewNames } from '../../views/views.ts';
import { fileFormat, sendExport } from '../export/routes.ts';

const head = { name: z.string(), title: z.string(), question: z.string(), notes: z.array(z.string()) };
const cell = z.string().nullable();

const reportList = z.object({
  reports: z.array(
    z.object({
      ...head,
      from: z.boolean().describe('whether it takes a first day'),
      to: z.boolean().describe('whether it takes a last day'),
      missing: cell.describe('why this mirror cannot run it; null = it can'),
    }),
  ),
});

const reportAnswer = z.object({
  ...head,
  from: cell,
  to: cell,
  kinds: z.array(z.string()).nullable().describe('the kinds that it counts; null = all'),
  columns: z.array(z.string()),
  rows: z.array(z.array(cell)),
  totals: z
    .array(z.record(z.string(), cell))
    .describe('of the columns that add up, by company and currency; none while a setting is wanted'),
  partial: z.array(z.string()).describe('the months or weeks that the days asked for cut'),
  wanted: z.array(z.string()).describe('settings that must say which statuses count'),
  remarks: z.array(z.string()),
});

const LIST = { summary: 'List the ready reports', tags: ['Records'], response: { 200: reportList } };

const day = z.string().max(40).optional();

const SHOW = {
  summary: 'Run a ready report',
  tags: ['Records'],
  params: z.strictObject({ name: z.string().max(100) }),
  querystring: z.strictObject({
    from: day.describe('first day: 2026-03-01'),
    to: day.describe('last day: 2026-03-31'),
    format: fileFormat.or(z.literal('json')).default('json'),
  }),
  response: { 200: reportAnswer },
};

/** The routes of the ready reports, as a document or as a file. */
export function reportRoutes(app: Server, context: RouteContext): void {
  const { session } = context;
  app.get('/v1/reports', { schema: LIST }, async ({ language }, reply) =>
    sendDocument(reply, reportList, { reports: listReports(await readViewNames(session), language) }),
  );
  app.get('/v1/reports/:name', { schema: SHOW }, async (request, reply) => {
    const { name } = request.params;
    const { from, to, format } = request.query;
    const asked = { name, from: from || undefined, to: to || undefined, language: request.language }; // A form sends empty ones.
    const answer = await runReport(session, await readViewNames(session), asked);
    if (format === 'json') return sendDocument(reply, reportAnswer, answer);
    return sendExport(context, request, reply, {
      source: reportSource(answer, format === 'xlsx' || format === 'excel'),
      remark: answer.remarks.join(' ') || null,
      format,
    });
  });
}
