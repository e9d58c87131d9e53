import { readStatusReport } from '../checks/status.ts';
import { disappearances, statusDocument } from '../checks/status-document.ts';
import { endpointDocuments, endpointList } from '../events/webhooks/endpoints.ts';
import { sendDocument } from '../http/send.ts';
import { readUserList, userList } from '../operations/users.ts';
import { readDisappearances } from '../store/records/deletion-store.ts';
import type { RouteContext, Server } from '../http/server.ts';

const status = {
  summary: 'Show how fresh and complete the mirror is',
  tags: ['Mirror'],
  response: { 200: statusDocument },
};

const deletions = {
  summary: 'List mass disappearances and the decisions on them',
  response: { 200: disappearances },
};

const webhooks = { summary: 'List the endpoints', response: { 200: endpointList } };

const users = {
  summary: 'List the users who may read, push, decide or administer',
  response: { 200: userList },
};

/** Routes that answer with one whole document, whatever is asked. */
export function documentRoutes(app: Server, context: RouteContext): void {
  const { session, kinds, clock } = context;
  app.get('/v1/status', { schema: status }, async (_request, reply) => {
    const report = await readStatusReport(session, kinds, { ...context, now: clock.now() });
    return sendDocument(reply, statusDocument, report);
  });
  app.get('/v1/deletions', { schema: deletions }, async (_request, reply) =>
    sendDocument(reply, disappearances, await readDisappearances(session)),
  );
  app.get('/v1/webhooks', { schema: webhooks }, async ({ user }, reply) =>
    sendDocument(reply, endpointList, { endpoints: await endpointDocuments(session, user?.role) }),
  );
  app.get('/v1/users', { config: { role: 'admin' }, schema: users }, async (_request, reply) =>
    sendDocument(reply, userList, await readUserList(session)),
  );
}
