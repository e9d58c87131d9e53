import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSocketServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { listening, type Listening } from './listening.ts';

/** Has a server listen on this machine until the test ends. */
export async function untilTestEnds(server: Server, host?: string): Promise<Listening> {
  const listens = await listening(server, host);
  onTestFinished(() => listens[Symbol.asyncDispose]());
  return listens;
}

/** Starts an HTTP server for one test; returns its base URL. */
export const serve = async (handler: RequestListener): Promise<string> =>
  (await untilTestEnds(createServer(handler))).url;

/** Starts a proxy that only tunnels; returns its URL. */
export const serveProxy = async (
  onConnect: (request: IncomingMessage, socket: Duplex) => unknown,
): Promise<string> => (await untilTestEnds(createServer().on('connect', onConnect))).url;

/** Starts a server that knows nothing of HTTP: it is handed every connection, and reads none. */
export const serveSockets = async (onSocket: (socket: Socket) => void): Promise<string> =>
  (await untilTestEnds(createSocketServer(onSocket))).url;

/** Starts a server that answers each request with raw bytes. */
export function serveRaw(answer: (socket: Socket, count: number) => void): Promise<string> {
  let count = 0;
  return serveSockets((socket) => {
    socket.on('data', () => {
      answer(socket, ++count);
    });
  });
}

/** Answers with JSON, or with a text or bytes that are to pass for it. */
export function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}
