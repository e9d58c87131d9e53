import * as z from 'zod';
import { endpointDocument, endpointDocuments } from '../feed/webhooks/endpoints.ts';
import { sendDocument } from '../http/send.ts';
import type { RouteContext, Server } from '../http/server.ts';

const endpoints = z.object({ endpoints: z.array(endpointDocument) });

const schema = { summary: 'List the endpoints', tags: ['Webhooks'], response: { 200: endpoints } };

/** Receivers of events. */
export function webhookRoutes(app: Server, context: RouteContext): void {
  app.get('/v1/webhooks', { schema }, async (_request, reply) =>
    sendDocument<typeof endpoints>(reply, { endpoints: await endpointDocuments(context.session) }),
  );
}
