import { sendDocument } from '../http/send.ts';
import type { RouteContext, Server } from '../http/server.ts';
import { readUserList, userList } from '../operations/users.ts';

const schema = {
  summary: 'List the users who may read, push, decide or administer',
  tags: ['Users'],
  response: { 200: userList },
};

/** The users who have a token of their own. */
export function userRoutes(app: Server, context: RouteContext): void {
  app.get('/v1/users', { config: { role: 'admin' }, schema }, async (_request, reply) =>
    sendDocument(reply, userList, await readUserList(context.session)),
  );
}
