import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';

/** A request that a receiver got. */
export interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly atMs: number;
}

/** The body of a change event, as a receiver reads it. */
export interface EventBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly seq: number; readonly recordId: string };
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly requests: Received[];
  /** The requests that were answered 2xx, in the order of the answers. */
  readonly taken: Received[];
  /** How many connections were opened. */
  readonly connections: () => number;
  /** Resolves once so many requests were taken. */
  readonly took: (count: number) => Promise<void>;
}

/** Starts a receiver on this machine that answers with 204 or as configured. */
export async function startReceiver(
  answer: (request: Received, count: number) => Answer | Promise<Answer> = () => ({ status: 204 }),
): Promise<Receiver> {
  const requests: Received[] = [];
  const taken: Received[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const received = await readRequest(request);
      requests.push(received);
      const { status, headers, body } = await answer(received, requests.length);
      response.writeHead(status, headers);
      response.end(body);
      if (status < 200 || status > 299) return;
      taken.push(received);
      for (const { count, resolve } of waiting) if (taken.length >= count) resolve();
    })();
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    requests,
    taken,
    connections: () => connections,
    took: (count) =>
      new Promise((resolve) => {
        if (taken.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

async function readRequest(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  return {
    id: headers['webhook-id'] ?? '',
    headers,
    body: Buffer.concat(chunks).toString('utf8'),
    atMs: Date.now(),
  };
}

/** Verifies a request by the reference library, and reads it. @throws If its signature is not good. */
export function verified({ body, headers }: Received, secret: string): EventBody {
  return new Webhook(secret).verify(body, headers) as EventBody;
}
