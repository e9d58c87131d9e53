import * as z from 'zod';
import { endpointDocuments, requireEndpoint } from '../../feed/webhooks/endpoints.ts';
import { listDeliveries } from '../../mirror/webhooks/delivery-store.ts';
import { sendJsonText } from '../answer/send.ts';
import { wholeNumber } from '../../operations/inputs.ts';
import { endpointName, FORMATS } from '../../operations/webhooks.ts';
import { instant } from '../fields.ts';
import type { RouteContext, Server } from '../server.ts';

const endpointParams = z.strictObject({ name: endpointName });
const format = z.enum(FORMATS);
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
}
