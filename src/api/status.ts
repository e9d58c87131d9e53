import { readStatusReport } from '../checks/status.ts';
import { statusDocument } from '../checks/status-document.ts';
import { sendDocument } from '../http/send.ts';
import type { RouteContext, Server } from '../http/server.ts';

const schema = {
  summary: 'Show how fresh and complete the mirror is',
  tags: ['Mirror'],
  response: { 200: statusDocument },
};

/** How fresh and how sound the mirror is. */
export function statusRoutes(app: Server, context: RouteContext): void {
  const { session, kinds, clock } = context;
  app.get('/v1/status', { schema }, async (_request, reply) =>
    sendDocument(
      reply,
      statusDocument,
      await readStatusReport(session, kinds, { ...context, now: clock.now() }),
    ),
  );
}
