import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening, type Listening } from '../support/listening.ts';
import type { Outcome } from './answers.ts';
import type { Request, Service } from './service.ts';

/** Serves a world over HTTP on this machine; `nowMs` is the world's own time. */
export function serveWorld(service: Service, nowMs: () => number): Promise<Listening> {
  const server = createServer((incoming, response) => {
    readBody(incoming).then(
      (body) => {
        const request: Request = {
          method: methodOf(incoming),
          target: incoming.url ?? '/',
          body,
          isAfresh: incoming.headers['cache-control'] === 'no-cache',
        };
        give(response, service.answer(request, nowMs()));
      },
      () => response.destroy(),
    );
  });
  return listening(server);
}

function methodOf({ method }: IncomingMessage): Request['method'] {
  return method === 'POST' || method === 'PUT' ? method : 'GET';
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** What never comes back is a connection that ends without a word. */
function give(response: ServerResponse, outcome: Outcome): void {
  if (typeof outcome === 'string') {
    response.destroy();
    return;
  }
  response.writeHead(outcome.status, outcome.headers).end(outcome.body);
}
