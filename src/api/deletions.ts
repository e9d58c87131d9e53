import { readDisappearances } from '../store/records/deletion-store.ts';
import { sendDocument } from '../http/send.ts';
import { disappearances } from '../checks/status-document.ts';
import type { RouteContext, Server } from '../http/server.ts';

const schema = {
  summary: 'List mass disappearances and the decisions on them',
  tags: ['Deletions'],
  response: {
    200: disappearances,
  },
};

/** Records that disappeared all at once. */
export function deletionRoutes(app: Server, context: RouteContext): void {
  app.get('/v1/deletions', { schema }, async (_request, reply) =>
    sendDocument(reply, disappearances, await readDisappearances(context.session)),
  );
}
