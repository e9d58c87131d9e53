import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { AUTH_HEADERS } from '../src/catalog/kind.ts';
import { failure, type Answer } from './answer.ts';
import { SERVED_KINDS } from './served-kinds.ts';
import type { ServiceOperation, ServiceRequest } from './service.ts';

const MAX_LOGGED_REQUESTS = 10_000;

/** An HTTP server with the service's endpoints: it logs the last 10,000 requests and refuses those without the token (§5). */
export function createSandboxServer(token: string, answer: (request: ServiceRequest) => Promise<Answer>) {
  const app = fastify({ forceCloseConnections: true, exposeHeadRoutes: false });
  const requests: LoggedRequest[] = [];
  const open = new WeakMap<FastifyRequest, { status: number | null }>();
  app.removeAllContentTypeParsers();
  // Bodies stay text: no number is rounded, and a write without `Content-Type` (§4.8) is accepted.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  app.addHook('onRequest', async (request, reply) => {
    const [path = '', query = ''] = request.url.split('?', 2);
    const texts = Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
    const headers = Object.fromEntries(texts) as Record<string, string>;
    const entry = { method: request.method, path, query, headers, status: null };
    open.set(request, entry);
    requests.push(entry);
    if (requests.length > MAX_LOGGED_REQUESTS) requests.shift();
    const isAuthentic = AUTH_HEADERS.some(
      (name) => request.headers[name.toLowerCase()] === `Bearer ${token}`,
    );
    if (!isAuthentic) return sendAnswer(reply, failure(401, 'Unauthenticated.'));
  });
  app.addHook('onResponse', (request, reply, done) => {
    const entry = open.get(request);
    if (entry) entry.status = reply.statusCode;
    done();
  });
  app.setNotFoundHandler((_request, reply) => sendAnswer(reply, failure(404, 'Not found.')));
  // Every endpoint of the documentation (§4) and beyond; a misprinted path belongs to the kind that it addresses.
  for (const kind of SERVED_KINDS) {
    for (const operation of OPERATIONS) {
      const endpoint = kind[operation];
      if (!endpoint || 'misprint' in endpoint) continue;
      app.route({
        method: METHODS[operation],
        url: endpoint.path,
        handler: async ({ method, url, params, body }, reply) => {
          const query = new URLSearchParams(url.split('?', 2)[1]);
          const answered = await answer({
            kind,
            operation,
            id: (params as { id?: string }).id ?? '',
            method,
            page: positive(query.get('page')) ?? 1,
            perPage: positive(query.get('per_page')),
            perPageAtMost: Infinity,
            body: typeof body === 'string' ? body : '',
          });
          return sendAnswer(reply, answered);
        },
      });
    }
  }
  return { app, requests };
}

const METHODS = { list: 'GET', retrieve: 'GET', create: 'POST', update: 'PUT' } as const;
const OPERATIONS: readonly ServiceOperation[] = ['list', 'retrieve', 'create', 'update'];

function positive(text: string | null): number | null {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** Sends an answer; destroys the socket after a truncated response. */
function sendAnswer(reply: FastifyReply, { status, headers, body, arrives }: Answer): FastifyReply {
  if (arrives === 'whole') return reply.code(status).headers(headers).send(body);
  void reply.hijack(); // From here on the raw response is ours.
  if (arrives === 'not at all') {
    reply.raw.destroy();
  } else {
    const bytes = Buffer.from(body);
    reply.raw.writeHead(status, { ...headers, 'content-length': bytes.length });
    reply.raw.write(bytes.subarray(0, arrives.bytes), () => reply.raw.destroy());
  }
  return reply;
}

/** A request as it came in; `status` is null until it is answered, and for good where the socket was dropped. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string>;
  readonly status: number | null;
}
