import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Outcome } from './answers.ts';
import type { Request, Service } from './service.ts';

/** A service behind a port of its own. */
export interface HttpFront extends AsyncDisposable {
  readonly baseUrl: string;
}

/** Serves a world over HTTP on this machine; `nowMs` is the world's own time. */
export async function serveWorld(service: Service, nowMs: () => number): Promise<HttpFront> {
  const server = createServer((incoming, response) => {
    readBody(incoming).then(
      (body) => {
        const request: Request = { method: methodOf(incoming), target: incoming.url ?? '/', body };
        give(response, service.answer(request, nowMs()));
      },
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
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
