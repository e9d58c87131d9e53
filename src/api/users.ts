import * as z from 'zod';
import { listUsers, USER_ROLES } from '../mirror/people/user-store.ts';
import { sendJson } from '../http/send.ts';
import type { RouteContext, Server } from '../http/server.ts';
import { instant } from './fields.ts';

const user = z.object({ name: z.string(), role: z.enum(USER_ROLES), createdAt: instant });

const schema = {
  summary: 'List the users',
  tags: ['Users'],
  response: { 200: z.object({ users: z.array(user) }) },
};

/** Who may look, decide or administer. */
export function userRoutes(app: Server, { session }: RouteContext): void {
  app.get('/v1/users', { schema }, async (_request, reply) => {
    const users = await listUsers(session);
    return sendJson(reply, { users: users.map(({ name, role, createdAt }) => ({ name, role, createdAt })) });
  });
}
