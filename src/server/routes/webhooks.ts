import * as z from 'zod';
import { addEndpoint, endpointDocuments, requireEndpoint } from '../../feed/webhooks/endpoints.ts';
import { listDeliveries } from '../../mirror/webhooks/delivery-store.ts';
import { sendJsonText } from '../answer/send.ts';
import { instant, kindName, requireKind, wholeNumber } from '../fields.ts';
import type { RouteContext, Server } from '../server.ts';

const NAME = 'expected a name: letters, digits, _ and -, 64 at most';
const endpointName = z.string(NAME).regex(/^[\w-]{1,64}$/, NAME);
export const endpointParams = z.strictObject({ name: endpointName.describe('name of the endpoint') });
const format = z.enum(['json', 'slack', 'teams', 'text']);
const change = z.enum(['created', 'updated', 'deleted', 'restored']);
const names = z.array(z.string()).nullable();

const endpoint = z.object({
  name: z.string(),
  url: z.string().describe('without its query; of a chat room only the host'),
  ...{ kinds: names, changes: names, fields: names, format },
  state: z.enum(['active', 'disabled']),
  health: z.enum(['healthy', 'failing', 'disabled']),
  disabledReason: z.string().nullable(),
  failures: z.int().describe('attempts since the last success'),
  failingSince: instant.nullable(),
  notBefore: instant.nullable().describe('the receiver has asked for a pause until then'),
  cursor: z.int().describe('the events up to here were taken into deliveries'),
  replayAfter: z.int().nullable(),
  pending: z.int().describe('deliveries that are neither taken nor given up'),
  ...{ pendingSince: instant.nullable(), deliveredAt: instant.nullable(), createdAt: instant },
});

export const revealed = z.object({
  ...{ name: z.string(), url: z.string() },
  secret: z.string().describe('shown this once'),
});

const delivery = z.object({
  ...{ endpoint: z.string(), endpointId: z.int().describe('tells it from an earlier one of its name') },
  ...{ id: z.int(), webhookId: z.string(), type: z.string(), seq: z.int().nullable() },
  ...{ kind: z.string().nullable(), recordId: z.string().nullable() },
  state: z.enum(['ready', 'waiting', 'delivered', 'failed', 'dropped']),
  attempts: z.int(),
  nextAttemptAt: instant.nullable(),
  attemptedAt: instant.nullable(),
  status: z.int().nullable(),
  error: z.string().nullable().describe('why there was no answer'),
  responseStart: z.string().nullable(),
  durationMs: z.int().nullable(),
  createdAt: instant,
  deliveredAt: instant.nullable(),
});

const tags = ['Webhooks'];

/** Receivers of events, what they were sent, and decisions on them. */
export function webhookRoutes(app: Server, context: RouteContext): void {
  const { session } = context;
  app.get(
    '/v1/webhooks',
    {
      schema: {
        summary: 'List the receivers of events',
        tags,
        response: { 200: z.object({ endpoints: z.array(endpoint) }) },
      },
    },
    async (_request, reply) =>
      sendJsonText(reply, JSON.stringify({ endpoints: await endpointDocuments(session) })),
  );
  const page = { limit: wholeNumber(1, 1000).default(50), before: wholeNumber(1).optional() };
  app.get(
    '/v1/webhooks/:name/deliveries',
    {
      schema: {
        ...{ summary: 'List the deliveries of a receiver, newest first', tags, params: endpointParams },
        querystring: z.strictObject(page),
        response: { 200: z.object({ deliveries: z.array(delivery) }) },
      },
    },
    async ({ params: { name: of }, query: { limit, before } }, reply) => {
      await requireEndpoint(session, of);
      const deliveries = await listDeliveries(session, { endpoint: of, limit, before });
      return sendJsonText(reply, JSON.stringify({ deliveries }));
    },
  );
  addRoute(app, context);
}

function addRoute(app: Server, { session, kinds, clock, webhooks }: RouteContext): void {
  const wish = z.strictObject({
    name: endpointName,
    url: z.string().max(2048).describe('a public https URL, or one whose host stands in webhooks.allowHosts'),
    kinds: z.array(kindName(kinds)).max(100).nullish().describe('only events of these kinds'),
    changes: z.array(change).max(4).nullish().describe('only these changes'),
    fields: z
      .array(z.string().regex(/^\w{1,64}$/))
      .max(100)
      .nullish()
      .describe('only updates of one of these fields'),
    format: format.default('json').describe('of a chat room, which is told what may need a person'),
  });
  const schema = {
    ...{ summary: 'Add a receiver, which gets the events from now on', tags, operationId: 'addWebhook' },
    ...{ body: wish, response: { 201: revealed } },
  };
  app.post('/v1/webhooks', { schema }, async ({ body }, reply) => {
    const { kinds: of = null, changes = null, fields = null, ...rest } = body;
    for (const kind of of ?? []) requireKind(kinds, kind);
    const asked = { ...rest, kinds: of, changes, fields };
    const { allowHosts } = webhooks;
    const added = await addEndpoint(session, asked, { allowHosts, now: clock.now() });
    void reply.code(201);
    return sendJsonText(reply, JSON.stringify(added));
  });
}
