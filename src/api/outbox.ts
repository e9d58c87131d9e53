import * as z from 'zod';
import { historyDocument, outbox, outboxDocument, shownEntry } from '../outbound/decisions/entry-document.ts';
import { listOutbox, readHistory, STATE_FILTERS, statesOf } from '../outbound/decisions/entry-list.ts';
import { sendDocument } from '../http/send.ts';
import { rowPath, wholeNumber } from '../operations/inputs.ts';
import { afterId, nextAfter, nextId } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';

const page = outbox.extend({ next: nextId });

const listSchema = {
  summary: 'List entries: those that need a person first, then the newest; or page by page',
  operationId: 'listEntries',
  querystring: z.strictObject({
    state: z.enum(STATE_FILTERS).default('all').describe('open: neither done nor abandoned'),
    key: z
      .string()
      .max(200)
      .optional()
      .describe('the entry that was pushed under this key; none if it is unknown'),
    after: afterId,
    limit: wholeNumber(1, 1000).default(50),
  }),
  response: {
    200: page,
  },
};

const showSchema = {
  summary: 'Show one entry with its attempts',
  operationId: 'showEntry',
  params: rowPath,
  response: { 200: shownEntry },
};

/** Lists and shows the entries of the outbox. */
export function outboxRoutes(app: Server, context: RouteContext): void {
  app.get('/v1/outbox', { schema: listSchema }, async ({ query: { state, ...wanted } }, reply) => {
    const states = statesOf(state);
    const list = await listOutbox(context, { states, ...wanted });
    const document = { ...outboxDocument(list), ...nextAfter(wanted.after, list.entries) };
    return sendDocument(reply, page, document);
  });
  app.get('/v1/outbox/:id', { schema: showSchema }, async (request, reply) => {
    const history = await readHistory(context, request.params.id);
    return sendDocument(reply, shownEntry, historyDocument(history));
  });
}
