import * as z from 'zod';
import {
  planList,
  readPlans,
  RESULT_COLUMNS,
  resultLines,
  showPlan,
  shownPlan,
  writePlan,
} from './work/plan-document.ts';
import { csvEncoding } from '../export/text-encodings.ts';
import { deciderOf } from '../../http/access.ts';
import { sendDocument, sendJsonText } from '../../http/send.ts';
import { wholeNumber } from '../../operations/inputs.ts';
import { planPath } from './operations/plans.ts';
import { KIND, MATCH, uploadPlan } from './operations/upload-plan.ts';
import { UPLOAD_BYTES } from '../../http/upload-limit.ts';
import type { RouteContext, Server } from '../../http/server.ts';
import { XLSX } from '../export/routes.ts';

const listSchema = {
  summary: 'List plans of corrections, the newest first',
  querystring: z.strictObject({
    before: wholeNumber(1).optional().describe('only plans with a lower number'),
    limit: wholeNumber(1, 1000).default(50),
  }),
  response: { 200: planList },
};

const showSchema = {
  summary: 'Show one plan: old and new cells, refused rows and results',
  operationId: 'showPlan',
  params: planPath,
  response: { 200: shownPlan },
};

const result = {
  summary: 'Return the result of a plan as CSV, one line per cell',
  params: planPath,
  response: { 200: { description: 'The file', content: { 'text/csv': { schema: z.string() } } } },
};

const SHEETS = ['text/csv', XLSX, 'application/octet-stream'];

const isSet = z.stringbool().optional();

const uploadSchema = {
  summary: 'Make a plan of an edited export, which is the body',
  consumes: SHEETS,
  body: z.any().meta({ type: 'string', format: 'binary' }),
  querystring: z.strictObject({
    name: z.string().min(1).max(1000).optional().describe('name of the file, as plans show it'),
    kind: z.string().max(100).optional().describe(KIND),
    match: z.string().max(200).optional().describe(MATCH),
    create: isSet.describe('create records from rows without an id or a match'),
    allowReordered: isSet.describe('accept a column whose values only changed places'),
  }),
  response: { 201: shownPlan },
};

/** Routes of corrections from spreadsheets. */
export function planRoutes(app: Server, context: RouteContext): void {
  const { session, kinds, uploadLimit } = context;
  void app.register((uploads: Server, _options, ready) => {
    uploads.addContentTypeParser(SHEETS, { parseAs: 'buffer' }, (_request, body, parsed) => {
      parsed(null, body);
    });
    const options = {
      config: { role: 'operator' },
      bodyLimit: UPLOAD_BYTES,
      schema: uploadSchema,
      onRequest: uploadLimit.reserve,
    } as const;
    uploads.post('/v1/plans', options, async (request, reply) => {
      const { name, ...rules } = request.query;
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const upload = { name: name ?? (isZip(bytes) ? 'upload.xlsx' : 'upload.csv'), bytes, ...rules };
      const { who } = deciderOf(request, 'api');
      const id = await uploadLimit.inTurn(() => uploadPlan(context, upload, who));
      return sendJsonText(reply.code(201), await writePlan(session, kinds, id, context));
    });
    ready();
  });
  app.get('/v1/plans', { schema: listSchema }, async ({ query: { before, limit } }, reply) =>
    sendDocument(reply, planList, { plans: await readPlans(session, kinds, limit, before) }),
  );
  app.get('/v1/plans/:id', { schema: showSchema }, async ({ params: { id } }, reply) =>
    sendJsonText(reply, await writePlan(session, kinds, id, context)),
  );
  app.get('/v1/plans/:id/result.csv', { schema: result }, async ({ params: { id } }, reply) => {
    const { head, rows } = csvEncoding(RESULT_COLUMNS, false);
    const text = head + rows(resultLines(await showPlan(session, kinds, id)));
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="plan-${id}.csv"`)
      .send(text);
  });
}

const isZip = (bytes: Buffer): boolean => bytes.subarray(0, 2).toString('latin1') === 'PK';
