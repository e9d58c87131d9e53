import { PassThrough, Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { eventsOf, eventsWhere } from '../../events/read-changes.ts';
import { changeFilters } from '../../operations/inputs.ts';
import { StoppedError } from '../../lib/sync-error.ts';
import { expandIds } from '../../runs/extent.ts';
import { openExport } from './export-source.ts';
import { exportTexts, exportWorkbook, headingLanguage, type ExportOptions } from './export.ts';
import type { ExportSource } from './read-rows.ts';
import { watchCaller } from '../../http/access.ts';
import { abortWhenGone } from '../../http/send.ts';
import type { RouteContext, Server } from '../../http/server.ts';

/** The media type of a workbook. */
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const CSV = { type: 'text/csv; charset=utf-8', ending: 'csv' };

const FORMATS = {
  csv: CSV,
  excel: CSV,
  ndjson: { type: 'application/x-ndjson; charset=utf-8', ending: 'ndjson' },
  xlsx: { type: XLSX, ending: 'xlsx' },
} as const;

/** The format of a file that is sent. */
export const fileFormat = z
  .enum(['csv', 'excel', 'ndjson', 'xlsx'])
  .describe('excel: CSV with a comma before the decimals');

const schema = {
  summary: 'Export a record kind or a view as a file',
  tags: ['Records'],
  params: z.strictObject({
    view: z.string().max(100).describe('a record kind, or a view such as bi_changes'),
  }),
  querystring: z.strictObject({
    format: fileFormat.default('csv'),
    asOf: z
      .string()
      .max(40)
      .optional()
      .describe("a kind's rows as they were at this instant; see the header bms-sync-remark"),
    columns: z.string().max(10_000).optional().describe('only these columns, in this order: id,name'),
    ids: z.string().max(10_000).optional().describe('only these records: 1,5-9'),
    ...changeFilters, // Of bi_changes alone.
    full: z.stringbool().default(false).describe('of a workbook: all columns, by their names'),
  }),
  response: { 200: { description: 'The file', content: { 'text/csv': { schema: z.string() } } } },
};

/** The route that sends a kind or a view as a file. */
export function exportRoutes(app: Server, context: RouteContext): void {
  const { session, kinds, clock, timezone } = context;
  app.get('/v1/export/:view', { schema }, async (request, reply) => {
    const { format, asOf, columns, ids: listed, full, ...filters } = request.query;
    const what = request.params.view;
    const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
    const events = await eventsOf(session, filters, clock.now(), timezone);
    const { source, remark } = await openExport(session, kinds, {
      what,
      asOf,
      ids: listed === undefined ? undefined : expandIds(listed),
      events: isFiltered ? eventsWhere(events) : undefined,
      columns,
      headings: headingLanguage(format, full, request.language),
      now: clock.now(),
      timezone,
    });
    return sendExport(context, request, reply, { source, remark, format });
  });
}

interface SentFile {
  readonly source: ExportSource;
  /** What a reader of the rows should know: in the header `bms-sync-remark`, percent-encoded but for ASCII. */
  readonly remark: string | null;
  readonly format: z.infer<typeof fileFormat>;
}

/** Sends rows as a file. While it is sent, it takes one of the caller's places for streams. */
export function sendExport(
  { streamLimit, access, clock, closing }: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { source: opened, remark, format }: SentFile,
): FastifyReply {
  const signal = abortWhenGone(reply, closing);
  const release = streamLimit.acquire(request.user?.name ?? '');
  reply.raw.once('close', release);
  const { type, ending } = FORMATS[format];
  const isLetIn = watchCaller(request, access, clock);
  async function* whileLetIn() {
    for await (const batch of opened.batches) {
      if (!(await isLetIn())) throw new StoppedError('The user was removed.'); // A file that merely ended would look whole.
      yield batch;
    }
  }
  const source = { ...opened, batches: whileLetIn() };
  const options = { format, signal };
  const remarkText = remark?.replaceAll('\n', ' ').replaceAll(/[^ -$&-~]/gu, encodeURIComponent);
  return reply
    .type(type)
    .headers(remarkText === undefined ? {} : { 'bms-sync-remark': remarkText })
    .header('content-disposition', `attachment; filename="${source.name}.${ending}"`)
    .send(format === 'xlsx' ? workbook(source, options) : Readable.from(exportTexts(source, options)));
}

function workbook(source: ExportSource, options: ExportOptions): Readable {
  const stream = new PassThrough();
  exportWorkbook(source, stream, options).catch((error: unknown) => stream.destroy(error as Error));
  return stream;
}
