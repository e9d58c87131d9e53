import { z } from 'zod';
import type { Kind } from '../../catalog/kind.ts';
import { awaitChanges } from '../../feed/await-changes.ts';
import { changeLine } from '../../feed/change-line.ts';
import { sendJsonText } from '../answer/json.ts';
import { instant, jsonObject, kindName, wholeNumber, wholeNumberText } from '../fields.ts';
import { jsonSchemaOf } from '../json-schema.ts';
import { checkKind } from '../kinds.ts';
import type { RouteContext, Server } from '../server.ts';
import { sendStream } from './change-stream.ts';
import { untilGone } from './until-gone.ts';

const queryOf = (kinds: readonly Kind[]) =>
  z.strictObject({
    after: wholeNumber(0).default(0).describe('only events after this seq'),
    limit: wholeNumber(1, 1000).default(100).describe('at most so many events; a stream has no end'),
    kind: kindName(kinds).optional(),
    wait: wholeNumber(0, 60).default(0).describe('seconds to wait for the first event where there is none'),
  });

const headers = z.looseObject({
  'last-event-id': wholeNumberText.optional().describe('of a stream: goes on after this seq'),
});

const change = z.object({
  seq: z.int(),
  kind: z.string(),
  record_id: z.string(),
  change: z.enum(['created', 'updated', 'deleted', 'restored']),
  observed_from: instant.nullable(),
  observed_at: instant,
  before: jsonObject.nullable(),
  after: jsonObject.nullable(),
  fields: jsonObject,
  origin: z.string().describe('service, or outbox:ID'),
  run_id: z.int().nullable(),
});

const page = z.object({
  changes: z.array(change),
  next: z.int().describe('what to give as `after` the next time'),
});

/** Answers of the route: a page, or a stream of events. */
const pageOrStream = {
  description: 'Done',
  content: {
    'application/json': { schema: jsonSchemaOf(page, 'output') },
    'text/event-stream': { schema: { type: 'string' } },
  },
};

const recordOfFirst = {
  operationId: 'showRecord',
  parameters: { kind: '$response.body#/changes/0/kind', id: '$response.body#/changes/0/record_id' },
};

const schema = {
  summary: 'Read change events in order',
  description:
    'Waits for the first event where `wait` is given. With `Accept: text/event-stream` it is a stream of server-sent ' +
    'events instead: `id` is the seq, `data` one event.',
  links: { 200: { showRecord: recordOfFirst } },
  ...{ tags: ['Mirror'], headers, refusals: [422], response: { 200: pageOrStream } },
};

/** Change events: a page at once, a page that waits, or a stream. */
export function changeRoutes(app: Server, context: RouteContext): void {
  const { session, kinds, clock, closing, seats } = context;
  app.get(
    '/v1/changes',
    { exposeHeadRoute: false, schema: { ...schema, querystring: queryOf(kinds) } },
    async (request, reply) => {
      const { after, kind, limit, wait } = request.query;
      checkKind(kinds, kind);
      if (/\btext\/event-stream\b/i.test(request.headers.accept ?? '')) {
        const resumed = request.headers['last-event-id'] ?? after;
        return sendStream(reply, context, { after: resumed, kind });
      }
      const stand = wait > 0 ? seats.take() : () => undefined;
      try {
        const waiting = { clock, signal: untilGone(reply, closing), waitMs: wait * 1000 };
        const { changes, next } = await awaitChanges(session, { after, kind, limit }, waiting);
        return await sendJsonText(reply, `{"changes":[${changes.map(changeLine).join(',')}],"next":${next}}`);
      } finally {
        stand();
      }
    },
  );
}
