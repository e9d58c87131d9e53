import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { clients } from '../../src/catalog/kinds/clients.ts';
import { categories } from '../../src/catalog/kinds/categories.ts';
import { isListed, isRetrievable } from '../../src/catalog/kind.ts';
import type { Kind, ListedKind, RetrievableKind } from '../../src/catalog/kind.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import { openSource } from '../../src/source/source.ts';
import type { Source } from '../../src/source/source.ts';
import type { SourceParts, SourceSettings } from '../../src/source/http/http.ts';
import type { ListResponse } from '../../src/source/paging/list-responses.ts';
import { canary } from '../support/canary.ts';
import { fakeClock } from '../support/fake-clock.ts';
import type { FakeClock } from '../support/fake-clock.ts';

export const TOKEN = canary('-that-nobody-may-see');

function readable(kind: Kind): ListedKind & RetrievableKind {
  if (!isListed(kind) || !isRetrievable(kind)) throw new Error(`${kind.name} cannot be read both ways`);
  return kind;
}

/** A kind with documented paging, and one without. */
export const documentedKind = readable(clients);
export const byAnswerKind = readable(categories);

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts an HTTP server for one test; returns its base URL. */
export async function serve(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** Counts, whenever a request arrives, how many of a server's requests are not answered yet. */
export function countUnderWay(): {
  readonly atOnce: number[];
  readonly onRequest: (response: ServerResponse) => void;
} {
  const atOnce: number[] = [];
  let underWay = 0;
  return {
    atOnce,
    onRequest: (response) => {
      atOnce.push(++underWay);
      response.on('finish', () => underWay--);
    },
  };
}

/** Starts a proxy that only tunnels; returns its URL. */
export async function serveProxy(
  onConnect: (request: IncomingMessage, socket: Duplex) => unknown,
): Promise<string> {
  const tunnels = new Set<Duplex>();
  const server = createServer().on('connect', (request, socket) => {
    tunnels.add(socket.on('error', () => tunnels.delete(socket)));
    onConnect(request, socket);
  });
  onTestFinished(() => {
    for (const tunnel of tunnels) tunnel.destroy();
    server.close();
  });
  return listen(server);
}

/** Starts a server that answers each request with raw bytes. */
export async function serveRaw(answer: (socket: Socket, count: number) => void): Promise<string> {
  let count = 0;
  return serveSockets((socket) => {
    socket.on('data', () => {
      answer(socket, ++count);
    });
  });
}

/** Starts a server that knows nothing of HTTP: it is handed every connection, and reads none. */
export async function serveSockets(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => sockets.delete(socket));
    onSocket(socket);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server);
}

export function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

export function pageOf(request: IncomingMessage): number {
  return Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? '1');
}

/** The answer of a well-behaved list of `total` records. */
export function listBody(page: number, perPage: number, total: number): object {
  const first = (page - 1) * perPage;
  const length = Math.max(0, Math.min(perPage, total - first));
  return {
    success: true,
    data: Array.from({ length }, (_, index) => ({ id: first + index + 1 })),
    meta: {
      current_page: page,
      last_page: Math.max(1, Math.ceil(total / perPage)),
      per_page: perPage,
      total,
    },
  };
}

export interface Opened {
  readonly source: Source;
  readonly clock: FakeClock;
  /** Everything that was logged. */
  readonly log: () => string;
}

/** Opens a source on a fake clock; it is closed when the test ends. */
export function open(
  baseUrl: string,
  settings: Partial<SourceSettings> = {},
  openHttp?: SourceParts['openHttp'],
): Opened {
  const lines: string[] = [];
  const clock = fakeClock();
  const destination = { write: (line: string) => void lines.push(line) };
  const source = openSource(
    {
      baseUrl,
      token: TOKEN,
      concurrency: 4,
      requestsPerSecond: null,
      timeoutSeconds: 5,
      maxAttempts: 5,
      maxBodyBytes: 1_000_000,
      authHeaders: 'all',
      proxyUrl: null,
      ...settings,
    },
    {
      clock,
      logger: createLogger({ level: 'debug', secrets: [], destination }),
      random: () => 0.5,
      ...(openHttp && { openHttp }),
    },
  );
  onTestFinished(() => source.close());
  return { source, clock, log: () => lines.join('') };
}

export function ticker(): () => number {
  let tick = 0;
  return () => ++tick;
}

export async function sweepAll(
  source: Source,
  kind: ListedKind = documentedKind,
  thorough = false,
): Promise<ListResponse[]> {
  const responses: ListResponse[] = [];
  for await (const response of source.sweep(kind, { thorough, tick: ticker() })) responses.push(response);
  return responses;
}
