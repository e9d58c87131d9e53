import type { FastifyRequest } from 'fastify';
import { readStale } from '../../checks/stale-kinds.ts';
import { NOT_SIGNED_IN } from '../../http/access.ts';
import { abortWhenGone, sendProblem, type Problem } from '../../http/send.ts';
import type { RouteContext, Server } from '../../http/server.ts';
import { createSqlReader } from './context.ts';
import { createHttpHandler } from './protocol/http-handler.ts';

const BEARER_ONLY: Problem = {
  ...NOT_SIGNED_IN,
  code: 'http.bearer_only',
  detail: 'Assistants need the token of a user in the header Authorization.',
  hint: 'Send Authorization: Bearer TOKEN. A cookie does not suffice, because a browser sends it by itself.',
};

/** The route for assistants: the streamable HTTP transport of MCP. */
export function mcpRoutes(app: Server, context: RouteContext): void {
  const { session, schedules, clock, database } = context;
  const handler = createHttpHandler({
    ...context,
    readSql: createSqlReader(database.url, database.readerRole),
    readStale: () => readStale(session, schedules, { now: clock.now() }),
  });
  app.addHook('onClose', handler.close);
  void app.register((route: Server, _options, done) => {
    route.removeAllContentTypeParsers();
    route.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, parsed) => {
      parsed(null, body); // The handler parses it.
    });
    route.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/mcp',
      config: { role: 'viewer', isRead: true },
      schema: { hide: true },
      handler: async (request, reply) => {
        const { user, language } = request;
        if (user?.by !== 'bearer') return sendProblem(reply, BEARER_ONLY);
        const asker = { name: user.name, role: user.role, language };
        const asked = toWebRequest(request, abortWhenGone(reply, context.closing));
        return reply.send(await handler.answer(asked, asker));
      },
    });
    done();
  });
}

function toWebRequest({ method, headers, body }: FastifyRequest, signal: AbortSignal): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const content = typeof body === 'string' && method === 'POST' ? { body } : {};
  return new Request('http://localhost/mcp', { method, headers: pairs, signal, ...content });
}
