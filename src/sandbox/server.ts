import { fastify } from 'fastify';
import type { FastifyInstance } from 'fastify';
import { failure } from './answer.ts';
import { isAuthentic } from './authenticate.ts';
import { createRequestLog } from './request-log.ts';
import type { LoggedRequest } from './request-log.ts';
import { sendAnswer } from './send-answer.ts';

interface SandboxServer {
  readonly app: FastifyInstance;
  readonly requests: readonly LoggedRequest[];
}

/** An HTTP server without endpoints: it logs requests and refuses those without the token (§5). */
export function createServer(token: string): SandboxServer {
  const app = fastify({ forceCloseConnections: true, exposeHeadRoutes: false });
  const log = createRequestLog();
  app.removeAllContentTypeParsers();
  // Bodies stay text: no number is rounded, and a write without `Content-Type` (§4.8) is accepted.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  app.addHook('onRequest', async (request, reply) => {
    log.add(request.raw);
    if (!isAuthentic(request.headers, token)) return sendAnswer(reply, failure(401, 'Unauthenticated.'));
  });
  app.addHook('onResponse', (request, reply, done) => {
    log.answered(request.raw, reply.statusCode);
    done();
  });
  app.setNotFoundHandler((_request, reply) => sendAnswer(reply, failure(404, 'Not found.')));
  return { app, requests: log.requests };
}
