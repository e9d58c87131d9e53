import * as z from 'zod';
import { listPlans } from '../store/outbox/plan-store.ts';
import {
  listedPlan,
  RESULT_COLUMNS,
  resultLines,
  showPlan,
  shownPlan,
} from '../outbound/plans/plan-document.ts';
import { csvEncoding } from '../report/export/text-encodings.ts';
import { sendDocument } from '../http/send.ts';
import { wholeNumber } from '../operations/inputs.ts';
import { planPath } from '../operations/plans.ts';
import type { RouteContext, Server } from '../http/server.ts';

const tags = ['Plans'];

const plans = z.object({ plans: z.array(listedPlan) });

const listSchema = {
  summary: 'List plans of corrections, the newest first',
  tags,
  querystring: z.strictObject({
    before: wholeNumber(1).optional().describe('only plans with a lower number'),
    limit: wholeNumber(1, 1000).default(50),
  }),
  response: { 200: plans },
};

const showSchema = {
  summary: 'Show one plan: old and new cells, refused rows and results',
  tags,
  operationId: 'showPlan',
  params: planPath,
  response: { 200: shownPlan },
};

const result = {
  summary: 'Return the result of a plan as CSV, one line per cell',
  tags,
  params: planPath,
  response: { 200: { description: 'The file', content: { 'text/csv': { schema: z.string() } } } },
};

/** Routes of corrections from spreadsheets. */
export function planRoutes(app: Server, context: RouteContext): void {
  const { session, kinds } = context;
  app.get('/v1/plans', { schema: listSchema }, async ({ query: { before, limit } }, reply) =>
    sendDocument<typeof plans>(reply, { plans: await listPlans(session, limit, before) }),
  );
  app.get('/v1/plans/:id', { schema: showSchema }, async ({ params: { id } }, reply) =>
    sendDocument<typeof shownPlan>(reply, await showPlan(session, kinds, id)),
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
