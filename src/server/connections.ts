import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SECURITY_HEADERS } from './answer/security-headers.ts';
import { PROBLEM_TYPE, problemText } from './answer/send.ts';
import type { Problem } from './answer/send.ts';
import * as limits from './limits.ts';
import type { Server } from './server.ts';

/** The connections of a server. */
interface Connections {
  /** Answers bytes that could not be parsed as HTTP, after the requests before them. */
  readonly fail: (error: Error, socket: Socket) => void;
  /** Keeps one caller from taking all connections, or all memory by answers that it does not read. */
  readonly watch: (app: Server) => void;
}

/**
 * Seats the connections of a server.
 *
 * If all connections are taken, a new one replaces an idle one: health checks open a new connection each time and must be
 * answered even if all others are silent. A connection whose body does not arrive counts as idle.
 */
export function createConnections(): Connections {
  const standings: Standings = new Map(); // In the order of their beginning or their last answer.
  return {
    fail: (error, socket) => {
      const standing = standings.get(socket);
      if (standing !== undefined && isAnswering(standing)) endAfterAnswer(standing, socket);
      else answerClientError(error, socket);
    },
    watch: (app) => {
      app.server.on('connection', (socket) => {
        seat(standings, socket);
      });
      admitBy(app, (request, answer) => admit(standings, request, answer));
      app.addHook('preParsing', ({ raw, caller }) => {
        const standing = standings.get(raw.socket);
        if (standing !== undefined && caller !== null) standing.isKnown = true;
        return Promise.resolve();
      });
      app.server.on('timeout', (socket: Socket) => {
        // A quiet stream has nothing to write, and one open request.
        if (socket.writableLength > 0 || standings.get(socket)?.open === 0) socket.destroy();
      });
    },
  };
}

/** The state of a connection. */
interface Standing {
  /** Requests that came on it and whose answers have not left. */
  open: number;
  /** Whether a caller on it was authenticated. */
  isKnown: boolean;
  latest: { readonly request: IncomingMessage; readonly answer: ServerResponse } | null;
}

type Standings = Map<Socket, Standing>;

function seat(standings: Standings, socket: Socket): void {
  if (standings.size >= limits.CONNECTIONS && !makeRoom(standings)) {
    socket.destroy();
    return;
  }
  const standing: Standing = { open: 0, isKnown: false, latest: null };
  standings.set(socket, standing);
  socket.once('close', () => standings.delete(socket));
  socket.destroySoon = () => {
    closeGently(socket); // More may be on its way than the request that was answered.
  };
}

function admit(standings: Standings, request: IncomingMessage, answer: ServerResponse): boolean {
  const { socket } = request;
  const standing = standings.get(socket);
  if (standing === undefined) return false;
  standing.latest = { request, answer };
  standing.open++;
  answer.once('close', () => {
    standing.open--;
    if (standings.delete(socket)) standings.set(socket, standing);
  });
  if (standing.open <= limits.PIPELINED) return true;
  socket.destroy(); // Each answer waits in memory for those before it.
  return false;
}

type Handle = (request: IncomingMessage, answer: ServerResponse) => void;

/** Passes admitted requests on; others are dropped unread, as hundreds may follow in the same packet. */
function admitBy(app: Server, isAdmitted: (...args: Parameters<Handle>) => boolean): void {
  const handlers = app.server.listeners('request') as Handle[];
  app.server.removeAllListeners('request');
  app.server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
    if (isAdmitted(request, answer)) for (const handle of handlers) handle(request, answer);
  });
}

const lacksBody = ({ latest }: Standing): boolean => latest !== null && !latest.request.complete;

const isAnswering = (standing: Standing): boolean => standing.open > 0 && !lacksBody(standing);

function endAfterAnswer(standing: Standing, socket: Socket): void {
  if (standing.latest?.answer.headersSent === false) standing.latest.answer.setHeader('connection', 'close');
  else closeGently(socket);
}

/** Closes a connection that can be spared, the oldest first; false if all are working for authenticated callers. */
function makeRoom(standings: Standings): boolean {
  let spared: { readonly socket: Socket; readonly rank: number } | null = null;
  for (const [socket, standing] of standings) {
    const rank = rankOf(standing);
    if (rank !== null && rank < (spared?.rank ?? Infinity)) spared = { socket, rank };
    if (rank === 0) break;
  }
  spared?.socket.destroy();
  if (spared !== null) standings.delete(spared.socket);
  return spared !== null;
}

/** The rank of a connection, the lowest being closed first; null = must not be closed. */
function rankOf(standing: Standing): number | null {
  if (!standing.isKnown) return isAnswering(standing) ? 1 : 0;
  if (standing.open === 0) return 2;
  return lacksBody(standing) ? 3 : null;
}

const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'http.headers_too_large', detail: 'The headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'http.too_slow', detail: 'The request took too long.' },
};

const MALFORMED: Problem = { status: 400, code: 'http.malformed', detail: 'This is no HTTP request.' };

/** Answers bytes that could not be parsed as HTTP; they never reach a route. */
function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') socket.destroy();
  if (!socket.writable) return; // It is being closed, and Node still parses what comes.
  const problem = PROBLEMS[error.code ?? ''] ?? MALFORMED;
  const body = problemText(problem);
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const status = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n`;
  socket.write(`${status}${head.join('')}\r\n${body}`);
  closeGently(socket);
}

/**
 * Ends a connection whose client may still be sending, so that it can read the answer.
 *
 * A socket that is closed with unread bytes is reset, and a reset may overtake the answer. So the server ends its own side
 * and discards further bytes: for `LINGER_MS` and `LINGER_BYTES` at most, and as long as something arrives.
 */
function closeGently(socket: Socket): void {
  const until = performance.now() + limits.LINGER_MS;
  let left = limits.LINGER_BYTES;
  const timer = setTimeout(() => socket.destroy(), limits.LINGER_STILL_MS);
  socket.once('close', () => {
    clearTimeout(timer);
  });
  const throwAway = (): void => {
    socket.removeAllListeners('data'); // No more requests are read from it.
    socket.on('data', (some: Buffer) => {
      left -= some.length;
      if (left < 0 || performance.now() > until) socket.destroy();
      else timer.refresh();
    });
  };
  socket.end();
  if (socket.isPaused())
    socket.once('resume', throwAway).resume(); // Node paused the socket itself, so it must be resumed.
  else throwAway();
}
