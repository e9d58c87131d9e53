import { endpointDocuments, endpointList } from '../feed/webhooks/endpoints.ts';
import { sendDocument } from '../http/send.ts';
import type { RouteContext, Server } from '../http/server.ts';

const schema = { summary: 'List the endpoints', tags: ['Webhooks'], response: { 200: endpointList } };

/** Receivers of events. */
export function webhookRoutes(app: Server, context: RouteContext): void {
  app.get('/v1/webhooks', { schema }, async (_request, reply) =>
    sendDocument(reply, endpointList, { endpoints: await endpointDocuments(context.session) }),
  );
}
