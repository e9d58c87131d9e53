import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Pool, Client, buildConnector, errors, type Dispatcher } from 'undici';
import { codedError, isOurs } from '../../lib/sync-error.ts';
import { packageVersion } from '../../lib/package-folder.ts';
import { receive, type HttpClient, type SourceSettings, type SendRequest, type SentAnswer } from './http.ts';
import {
  connectOnce,
  codeOf,
  createProxyAgent,
  NoConnectionError,
  type OpenTunnel,
} from './network-faults.ts';
import { SourceError } from './errors.ts';

const DEFAULT_HEADERS = {
  'user-agent': `bms-sync/${packageVersion()}`, // A firewall may refuse a request without one.
  accept: 'application/json',
  'accept-encoding': 'gzip',
  'cache-control': 'no-cache',
};

export function createHttpClient(settings: SourceSettings): HttpClient {
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = pathname.replace(/(?<!\/)\/+$/, '');
  const dispatcher = createDispatcher(settings, origin);
  const { maxBodyBytes: maxBytes, timeoutSeconds } = settings;
  const timeoutMs = timeoutSeconds * 1000;

  return {
    get: ({ target, where, ...request }, signal) => {
      const headers = { ...DEFAULT_HEADERS, ...request.headers };
      const options = { origin, path: prefix + target, method: 'GET', headers } as const;
      return receive(dispatcher, options, { maxBytes, timeoutMs, where, signal });
    },
    send: (request, signal) => {
      const target = prefix + request.target;
      const headers = { ...DEFAULT_HEADERS, 'content-type': 'application/json', ...request.headers };
      return sendOnce(settings, origin, { ...request, target, headers }, signal);
    },
    destroy: () => dispatcher.destroy(),
  };
}

/** One request at a time on a connection, so that a fault concerns that request alone. */
const HTTP_1 = { allowH2: false };

function createDispatcher(settings: SourceSettings, origin: string): Dispatcher {
  const options = {
    connections: settings.concurrency,
    pipelining: 1,
    ...HTTP_1,
    // The deadline of the attempt covers these; undici's own timers would only blur it.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: settings.timeoutSeconds * 1000, ...HTTP_1 },
  };
  if (settings.proxyUrl === null) return new Pool(origin, options);
  const openPool: OpenTunnel = (target, tunnel) =>
    new Pool(target, { ...tunnel, connect: connectOnce(tunnel.connect) });
  return createProxyAgent(settings.proxyUrl, options, HTTP_1, openPool);
}

/**
 * Sends a request once, over a connection of its own that is closed afterwards.
 *
 * `unsent` is proved: no byte is written before the connection passes the gate, and the gate is closed before the
 * result is decided. Every later failure, a bug of undici included, is `lost`, whether a byte has left or not.
 * @param request Its target is the whole path, its headers are all of them.
 */
async function sendOnce(
  settings: SourceSettings,
  origin: string,
  { canSend, target, where, ...request }: SendRequest,
  signal: AbortSignal,
): Promise<SentAnswer> {
  const gate = createConnectionGate(canSend);
  const dispatcher = openDispatcher(settings, origin, gate, signal);
  const onBegin = (): void => {
    if (gate.socket?.writableLength !== 0) throw codedError('answered_early', 'it cannot be the answer'); // Before the whole request had left.
  };
  try {
    const options = { ...request, origin, path: target, reset: true }; // The connection is used once.
    const reception = { maxBytes: settings.maxBodyBytes, where, signal, onBegin };
    const answer = await Promise.race([receive(dispatcher, options, reception), rejectOnAbort(signal)]);
    return { is: 'answered', ...answer };
  } catch (error) {
    gate.close();
    if (gate.socket) {
      const fault = error instanceof SourceError ? error.reason : codeOf(error);
      const why = fault ?? (error instanceof Error ? error.name : 'unknown');
      return { is: 'lost', why: signal.aborted ? 'interrupted' : why };
    }
    if (gate.wasRefused) return { is: 'unsent', why: 'paused' };
    if (signal.aborted) return { is: 'unsent', why: 'interrupted' };
    if (isOurs(error)) throw error;
    return { is: 'unsent', why: codeOf(error) ?? 'not_connected' };
  } finally {
    await dispatcher.destroy();
  }
}

function openDispatcher(settings: SourceSettings, origin: string, gate: ConnectionGate, signal: AbortSignal) {
  const timeouts = { headersTimeout: 0, bodyTimeout: 0, ...HTTP_1 }; // The deadline covers these.
  const connection = { timeout: settings.timeoutSeconds * 1000, signal, ...HTTP_1 }; // Aborted, it stops connecting at once.
  if (settings.proxyUrl === null) {
    return new Client(origin, { ...timeouts, connect: gate.through(buildConnector(connection)) });
  }
  const openClient: OpenTunnel = (target, tunnel) =>
    new Client(target, { ...tunnel, connect: gate.through(tunnel.connect) });
  return createProxyAgent(settings.proxyUrl, timeouts, connection, openClient);
}

/** Rejects when the signal fires: undici hears it only once it is connected. */
async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw new Error('interrupted');
}

type ConnectionGate = ReturnType<typeof createConnectionGate>;

/**
 * Creates a gate between a new connection and the request to be written to it. It lets one connection through at most: a second
 * one would be the request's repetition.
 * @param canSend Asked when a connection is about to pass; false refuses it.
 */
function createConnectionGate(canSend: () => boolean = () => true) {
  let isOpen = true;
  let wasRefused = false;
  let passedSocket: Socket | null = null;

  return {
    /** Makes a connector whose connection passes here. */
    through:
      (connect: buildConnector.connector): buildConnector.connector =>
      (options, callback) => {
        if (!isOpen || passedSocket) {
          const cause = new errors.SocketError('closed before the request was written');
          callback(new NoConnectionError('refused', { cause }), null);
          return;
        }
        connect(options, (error, socket) => {
          if (isOpen && socket && !canSend()) wasRefused = true;
          if (isOpen && socket && !wasRefused) {
            passedSocket = socket;
            callback(null, socket);
            return;
          }
          socket?.on('error', () => undefined).destroy();
          callback(new NoConnectionError('not connected', { cause: error }), null);
        });
      },
    /** The socket that was handed over; null = it never was, and so no byte of the request has left. */
    get socket(): Socket | null {
      return passedSocket;
    },
    /** True where a connection was refused because it came too late. */
    get wasRefused(): boolean {
      return wasRefused;
    },
    /** Closes the gate: from now on `socket` does not change. */
    close: (): void => {
      isOpen = false;
    },
  };
}
