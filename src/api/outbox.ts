import * as z from 'zod';
import {
  historyDocument,
  outbox,
  outboxDocument,
  shownEntry,
  storedEntry,
} from '../outbound/decisions/entry-document.ts';
import {
  listOutbox,
  OPEN_ENTRY_STATES,
  readHistory,
  ENTRY_STATES,
  whyUnsent,
} from '../outbound/decisions/entry-list.ts';
import { checkRequests, storeChecked } from '../outbound/intake/intake.ts';
import { deciderOf } from '../http/access.ts';
import { sendDocument } from '../http/send.ts';
import { recordIdOrNumber, rowPath, wholeNumber } from '../operations/inputs.ts';
import { jsonObject } from '../lib/json/document.ts';
import { afterId, nextAfter, nextId } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';

const page = outbox.extend({ next: nextId });

const listSchema = {
  summary: 'List entries: those that need a person first, then the newest; or page by page',
  tags: ['Outbox'],
  querystring: z.strictObject({
    state: z
      .enum(['all', 'open', ...ENTRY_STATES])
      .default('all')
      .describe('open: neither done nor abandoned'),
    after: afterId,
    limit: wholeNumber(1, 1000).default(50),
  }),
  response: {
    200: page,
  },
};

const showSchema = {
  summary: 'Show one entry with its attempts',
  tags: ['Outbox'],
  operationId: 'showEntry',
  params: rowPath,
  response: { 200: shownEntry },
};

const change = z.strictObject({
  operation: z.enum(['create', 'update']),
  kind: z.string().max(100),
  id: recordIdOrNumber.nullish().describe('of the record to update'),
  data: jsonObject.describe('the fields to write'),
  base: jsonObject.nullish().describe('the record as seen before the update'),
  allowUnknown: z.boolean().optional().describe('true: unknown fields are sent, too'),
  allowDouble: z.boolean().optional().describe('true: made although a record has its natural key'),
});

const headers = z.looseObject({
  'idempotency-key': z
    .string('expected your own key for this change: the same key is stored once')
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/, 'expected 1 to 200 characters of ASCII'),
});

const queueSchema = {
  summary: 'Put a create or an update into the outbox',
  description:
    'The same key and body again: 200 and the entry as it is by now. Another body: 409. A create whose natural key something has: 422.',
  tags: ['Outbox'],
  headers,
  body: change,
  response: { 202: storedEntry, 200: storedEntry },
};

/** Lists and shows the entries of the outbox, and puts new ones into it. */
export function outboxRoutes(app: Server, context: RouteContext): void {
  const { session, kinds, clock, isDead, wakeEngine } = context;
  app.get('/v1/outbox', { schema: listSchema }, async ({ query: { state, after, limit } }, reply) => {
    const sets = { all: ENTRY_STATES, open: OPEN_ENTRY_STATES };
    const states = state === 'all' || state === 'open' ? sets[state] : [state];
    const list = await listOutbox(session, { states, after, limit }, { now: clock.now(), isDead });
    const document = { ...outboxDocument(list), ...nextAfter(after, list.entries) };
    return sendDocument<typeof page>(reply, document);
  });
  app.get('/v1/outbox/:id', { schema: showSchema }, async (request, reply) => {
    const history = await readHistory(session, request.params.id, { now: clock.now(), isDead });
    return sendDocument<typeof shownEntry>(reply, historyDocument(history));
  });
  app.post('/v1/outbox', { config: { role: 'operator' }, schema: queueSchema }, async (request, reply) => {
    const entry = { ...request.body, key: request.headers['idempotency-key'] };
    const checked = await checkRequests(session, kinds, [entry]);
    const [result] = await storeChecked(session, checked, clock.now(), deciderOf(request, 'api'));
    if (result === undefined) throw new Error('An entry was neither stored nor refused.');
    if (result.isNew) wakeEngine();
    const { id, isNew } = result;
    request.entryId = id;
    void reply.code(isNew ? 202 : 200).header('location', `/v1/outbox/${id}`);
    const unsent = result.state === 'ready' ? await whyUnsent(session, { now: clock.now(), isDead }) : null;
    return sendDocument<typeof storedEntry>(reply, {
      ...result,
      notes: [...result.notes, unsent ?? []].flat(),
    });
  });
}
