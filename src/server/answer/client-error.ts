import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { closeGently } from '../close-gently.ts';
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
