import * as z from 'zod';
import { storeEntries } from '../outbound/intake/intake.ts';
import { sendJson } from '../http/send.ts';
import { recordIdOrNumber } from '../operations/inputs.ts';
import { jsonObject } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';
import { operation, state } from './outbox.ts';

const change = z.strictObject({
  operation,
  kind: z.string().max(100),
  id: recordIdOrNumber.nullish().describe('of the record to update'),
  data: jsonObject.describe('the fields to write'),
  base: jsonObject.nullish().describe('the record as seen before the update'),
  allowUnknown: z.boolean().optional().describe('true: fields that nobody knows are sent, too'),
  allowDouble: z.boolean().optional().describe('true: made although a record has its natural key'),
});

const headers = z.looseObject({
  'idempotency-key': z
    .string('expected the caller’s own name for this change: the same key is stored once')
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/, 'expected 1 to 200 characters of ASCII'),
});

/** An entry just stored, or stored before under the same key. */
const stored = z.object({
  id: z.int(),
  state,
  key: z.string(),
  kind: z.string(),
  operation,
  recordId: z.string().nullable(),
  isNew: z.boolean(),
  notes: z.array(z.string()),
});

const schema = {
  summary: 'Put a create or an update into the outbox',
  description:
    'The same key and body again: 200 and the entry as it is by now. Another body: 409. A create whose natural key something has: 422.',
  tags: ['Outbox'],
  headers,
  body: change,
  response: { 202: stored, 200: stored },
};

/** Puts entries into the outbox. */
export function outboxWriteRoutes(app: Server, { session, kinds, clock, wakeEngine }: RouteContext): void {
  app.post('/v1/outbox', { schema }, async (request, reply) => {
    const asked = { ...request.body, key: request.headers['idempotency-key'] };
    const [result] = await storeEntries(session, { kinds, requests: [asked], now: clock.now() });
    if (result === undefined) throw new Error('An entry was neither stored nor refused.');
    if (result.isNew) wakeEngine();
    const { id, state, key, kind, operation, recordId, isNew, notes } = result;
    request.entryId = id;
    void reply.code(isNew ? 202 : 200).header('location', `/v1/outbox/${id}`);
    return sendJson(reply, { id, state, key, kind, operation, recordId, isNew, notes });
  });
}
