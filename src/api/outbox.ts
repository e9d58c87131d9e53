import * as z from 'zod';
import {
  entryDocument,
  historyDocument,
  listOutbox,
  OPEN_STATES,
  pageOfOutbox,
  readHistory,
  STATES,
} from '../outbound/decisions/entry-list.ts';
import { sendJson } from '../http/send.ts';
import { rowPath, wholeNumber } from '../operations/inputs.ts';
import { afterId, instant, nextAfter, nextId } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';
import { frozen, writeBlock } from './status.ts';

export const state = z.enum(STATES);
export const operation = z.enum(['create', 'update']);
const json = z.any().describe('JSON');

const entry = z.object({
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

const history = entry.extend({
  next: z.array(z.string()).describe('what a person can do'),
  owner: z.string().nullable(),
  naturalKey: z.string().nullable(),
  allowUnknown: z.boolean().describe('fields that nobody knows are sent, too'),
  allowDouble: z.boolean().describe('made although a record has its natural key'),
  isMaker: z.boolean(),
  base: json,
  preimage: json,
  candidates: z.array(z.object({ id: z.string(), record: json })).describe('what a create may have made'),
  history: z.array(attempt),
});

const listed = {
  summary: 'List entries: those that need a person first, then the newest; or page by page',
  tags: ['Outbox'],
  querystring: z.strictObject({
    state: z
      .enum(['all', 'open', ...STATES])
      .default('all')
      .describe('open: neither done nor abandoned'),
    after: afterId,
    limit: wholeNumber(1, 1000).default(50),
  }),
  response: {
    200: z.object({ entries: z.array(entry), next: nextId, blockedKinds: z.array(writeBlock), frozen }),
  },
};

const shown = {
  summary: 'Show one entry with its attempts',
  tags: ['Outbox'],
  operationId: 'showEntry',
  params: rowPath,
  response: { 200: history },
};

/** Lists and shows the entries of the outbox. */
export function outboxRoutes(app: Server, { session }: RouteContext): void {
  app.get('/v1/outbox', { schema: listed }, async ({ query: { state, after, limit } }, reply) => {
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
  });
  app.get('/v1/outbox/:id', { schema: shown }, async ({ params }, reply) =>
    sendJson(reply, historyDocument(await readHistory(session, params.id))),
  );
}
