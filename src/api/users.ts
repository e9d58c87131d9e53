import * as z from 'zod';
import { listUsers, USER_ROLES } from '../store/people/user-store.ts';
import { sendJsonText } from '../http/send.ts';
import { instant } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';

const user = z.object({ name: z.string(), role: z.enum(USER_ROLES), createdAt: instant });

const schema = {
  summary: 'List who may look, decide or administer',
  tags: ['Users'],
  response: { 200: z.object({ users: z.array(user) }) },
};

/** The people who have a token of their own; no token, and no hash of one. */
export function userRoutes(app: Server, { session }: RouteContext): void {
  app.get('/v1/users', { config: { role: 'admin' }, schema }, async (_request, reply) => {
    const users = await listUsers(session);
    const told = users.map(({ name, role, createdAt }) => ({ name, role, createdAt }));
    return sendJsonText(reply, JSON.stringify({ users: told }));
  });
}
