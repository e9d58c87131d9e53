import { z } from 'zod';
import {
  entryDocument,
  historyDocument,
  listOutbox,
  OPEN_STATES,
  pageOfOutbox,
  readHistory,
  STATES,
} from '../../outbound/decisions/entry-list.ts';
import { storeEntries } from '../../outbound/intake/intake.ts';
import { sendJson } from '../answer/send.ts';
import { changeBody } from '../change-body.ts';
import {
  afterId,
  instant,
  jsonObject,
  nextAfter,
  nextId,
  recordIdOrNumber,
  rowId,
  wholeNumber,
} from '../fields.ts';
import { jsonSchemaOf } from '../json-schema.ts';
import type { RouteContext, Server } from '../server.ts';
import { frozen, writeBlock } from './status.ts';

const state = z.enum(STATES);
const operation = z.enum(['create', 'update']);
const json = z.any().describe('JSON');

/** An entry in a list. */
export const entry = z.object({
  id: z.int(),
  key: z.string(),
  kind: z.string(),
  operation,
  recordId: z.string().nullable(),
  state,
  verdict: z.string().nullable().describe('a stable word: why it is where it is'),
  meaning: z.string(),
  attempts: z.int(),
  nextAttemptAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
  payload: json,
  result: json,
});

const attempt = z.object({
  n: z.int(),
  openedAt: instant,
  closedAt: instant.nullable(),
  grade: z.string().nullable(),
  status: z.int().nullable(),
  request: z.string(),
  responseStart: z.string().nullable(),
});

/** An entry with all its attempts. */
export const history = entry.extend({
  next: z.array(z.string()).describe('what a person can do'),
  owner: z.string().nullable(),
  naturalKey: z.string().nullable(),
  allowUnknown: z.boolean().describe('fields that nobody knows are sent, too'),
  isMaker: z.boolean(),
  base: json,
  preimage: json,
  history: z.array(attempt),
});

/** An entry just stored, or stored before under the same key. */
export const stored = z.object({
  id: z.int(),
  state,
  key: z.string(),
  kind: z.string(),
  operation,
  recordId: z.string().nullable(),
  isNew: z.boolean(),
  notes: z.array(z.string()),
});

/** An entry after a person's decision. */
export const decided = entry.extend({ warning: z.string().nullable() });

const query = z.strictObject({
  state: z
    .enum(['all', 'open', ...STATES])
    .default('all')
    .describe('open: neither done nor abandoned'),
  after: afterId,
  limit: wholeNumber(1, 1000).default(50),
});

const list = z.object({
  entries: z.array(entry),
  next: nextId,
  blockedKinds: z.array(writeBlock),
  frozen,
});

const change = z.strictObject({
  operation: z.enum(['create', 'update']),
  kind: z.string().max(100),
  id: recordIdOrNumber.nullish().describe('of the record to update'),
  data: jsonObject.describe('the fields to write'),
  base: jsonObject.nullish().describe('the record as seen before the update'),
  allowUnknown: z.boolean().optional().describe('true: fields that nobody knows are sent, too'),
});

const headers = z.looseObject({
  'idempotency-key': z
    .string('expected the caller’s own name for this change: the same key is stored once')
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/, 'expected 1 to 200 characters of ASCII'),
});

const tags = ['Outbox'];

/** Routes of the outbox. */
export function outboxRoutes(app: Server, context: RouteContext): void {
  const { session } = context;
  app.get(
    '/v1/outbox',
    {
      schema: {
        ...{
          summary: 'List entries: those that need a person first, then the newest; or page by page',
          tags,
        },
        ...{ querystring: query, response: { 200: list } },
      },
    },
    async ({ query: { state, after, limit } }, reply) => {
      const sets = { all: STATES, open: OPEN_STATES };
      const states = state === 'all' || state === 'open' ? sets[state] : [state];
      const found =
        after === undefined
          ? await listOutbox(session, { states, limit })
          : await pageOfOutbox(session, { states, after, limit });
      return sendJson(reply, {
        entries: found.entries.map(entryDocument),
        ...nextAfter(after, found.entries),
        blockedKinds: found.blockedKinds.map((block) => ({ ...block })),
        frozen: found.frozen && { ...found.frozen },
      });
    },
  );
  app.get(
    '/v1/outbox/:id',
    {
      schema: {
        ...{ summary: 'Show one entry with its attempts', tags, operationId: 'showEntry' },
        ...{ params: rowId, response: { 200: history } },
      },
    },
    async ({ params }, reply) => sendJson(reply, historyDocument(await readHistory(session, params.id))),
  );
  intakeRoute(app, context);
}

/** Operations on an entry that was stored. */
const links = Object.fromEntries(
  ['showEntry', 'retryEntry', 'abandonEntry', 'adoptRecord'].map((operationId) => [
    operationId,
    { operationId, parameters: { id: '$response.body#/id' } },
  ]),
);

function intakeRoute(app: Server, { session, kinds, clock, wakeEngine }: RouteContext): void {
  const toldBody = changeBody(kinds, jsonSchemaOf(recordIdOrNumber, 'input'));
  app.post(
    '/v1/outbox',
    {
      schema: {
        summary: 'Put a create or an update into the outbox',
        description: 'The same key and body again: 200 and the entry as it is by now. Another body: 409.',
        ...{ tags, headers, body: change, toldBody, refusals: [409, 422] },
        ...{ response: { 202: stored, 200: stored }, links: { 202: links, 200: links } },
      },
    },
    async (request, reply) => {
      const asked = { ...request.body, key: request.headers['idempotency-key'] };
      const [result] = await storeEntries(session, { kinds, requests: [asked], now: clock.now() });
      if (result === undefined) throw new Error('An entry was neither stored nor refused.');
      if (result.isNew) wakeEngine?.();
      const { id, state, key, kind, operation, recordId, isNew, notes } = result;
      request.entryId = id;
      void reply.code(isNew ? 202 : 200).header('location', `/v1/outbox/${id}`);
      return sendJson(reply, { id, state, key, kind, operation, recordId, isNew, notes });
    },
  );
}
