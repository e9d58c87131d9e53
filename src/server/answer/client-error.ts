import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import * as limits from '../limits.ts';
import { PROBLEM_TYPE, problemText } from './problem.ts';
import type { Problem } from './problem.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'http.headers_too_large', detail: 'The headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'http.too_slow', detail: 'The request took too long.' },
};

const MALFORMED: Problem = { status: 400, code: 'http.malformed', detail: 'This is no HTTP request.' };

/** Answers bytes that could not be parsed as HTTP; they never reach a route. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
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
export function closeGently(socket: Socket): void {
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
