import * as z from 'zod';
import { endpointDocuments } from '../feed/webhooks/endpoints.ts';
import { sendJsonText } from '../http/send.ts';
import { LANGUAGES } from '../lib/text/speech.ts';
import { FORMATS } from '../operations/webhooks.ts';
import { instant } from '../lib/json/document.ts';
import type { RouteContext, Server } from '../http/server.ts';

const names = z.array(z.string()).nullable();

const endpoint = z.object({
  name: z.string(),
  url: z.string().describe('without its query; of a chat room only the host'),
  kinds: names,
  changes: names,
  fields: names,
  format: z.enum(FORMATS),
  language: z.enum(LANGUAGES).nullable(),
  state: z.enum(['active', 'disabled']),
  health: z.enum(['healthy', 'failing', 'disabled']),
  disabledReason: z.string().nullable(),
  failures: z.int().describe('attempts since the last success'),
  failingSince: instant.nullable(),
  notBefore: instant.nullable().describe('the receiver has asked for a pause until then'),
  cursor: z.int().describe('the events up to here were taken into deliveries'),
  replayAfter: z.int().nullable(),
  pending: z.int().describe('deliveries that are neither taken nor given up'),
  pendingSince: instant.nullable(),
  deliveredAt: instant.nullable(),
  createdAt: instant,
});

const schema = {
  summary: 'List the receivers of events',
  tags: ['Webhooks'],
  response: { 200: z.object({ endpoints: z.array(endpoint) }) },
};

/** Receivers of events. */
export function webhookRoutes(app: Server, { session }: RouteContext): void {
  app.get('/v1/webhooks', { schema }, async (_request, reply) =>
    sendJsonText(reply, JSON.stringify({ endpoints: await endpointDocuments(session) })),
  );
}
