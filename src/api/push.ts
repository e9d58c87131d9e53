import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { storedEntry } from '../outbound/decisions/entry-document.ts';
import { whyUnsent } from '../outbound/decisions/entry-list.ts';
import type { EntryRequest } from '../outbound/intake/entry-request.ts';
import { checkRequests, storeChecked } from '../outbound/intake/intake.ts';
import { deciderOf } from '../http/access.ts';
import { sendDocument } from '../http/send.ts';
import { recordIdOrNumber } from '../operations/inputs.ts';
import { jsonObject } from '../lib/json/document.ts';
import { SyncError } from '../lib/sync-error.ts';
import { isRoleAllowed } from '../store/users/user-store.ts';
import type { RouteContext, Server } from '../http/server.ts';

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

const pushSchema = {
  summary: 'Put a create or an update into the outbox',
  description:
    'The same key and body again: 200 and the entry as it is by now. Another body: 409. A create whose natural key something has: 422.',
  tags: ['Outbox'],
  operationId: 'push',
  headers,
  body: change,
  response: { 202: storedEntry, 200: storedEntry },
};

/** Puts creates and updates into the outbox. */
export function pushRoutes(app: Server, context: RouteContext): void {
  const { session, clock, isDead } = context;
  app.post('/v1/outbox', { config: { role: 'writer' }, schema: pushSchema }, async (request, reply) => {
    const entry = { ...request.body, key: request.headers['idempotency-key'] };
    const [result] = await store(context, request, [entry]);
    if (result === undefined) throw new Error('An entry was neither stored nor refused.');
    const { id, isNew } = result;
    request.entryId = id;
    void reply.code(isNew ? 202 : 200).header('location', `/v1/outbox/${id}`);
    const unsent = result.state === 'ready' ? await whyUnsent(session, { now: clock.now(), isDead }) : null;
    return sendDocument(reply, storedEntry, {
      ...result,
      notes: [...result.notes, unsent ?? []].flat(),
    });
  });
}

/** Checks and stores requests, all or none. */
async function store(context: RouteContext, request: FastifyRequest, requests: readonly EntryRequest[]) {
  const { session, kinds, clock, wakeEngine } = context;
  const by = deciderOf(request, 'api');
  const double = requests.find((each) => each.allowDouble === true);
  if (double !== undefined && !isRoleAllowed(by.role, 'operator'))
    throw new SyncError(
      `${double.where ?? 'body'}: allowDouble needs the role operator; ${by.who} is ${by.role}.`,
      {
        code: 'http.forbidden',
        hint: 'Nothing was stored. An operator can push it.',
      },
    );
  const stored = await storeChecked(session, await checkRequests(session, kinds, requests), clock.now(), by);
  if (stored.some((entry) => entry.isNew)) wakeEngine();
  return stored;
}
