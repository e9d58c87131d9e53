import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyReply } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { Logger } from '../lib/log/logger.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';
import { withFullStop } from '../lib/text/text.ts';
import { MirrorError } from '../db/session/errors.ts';
import type { Server } from './server.ts';
import { PROBLEM_TYPE, problemText, sendProblem, wantsPage, type Problem } from './send.ts';

/** Answers thrown errors, those of pages by `sendProblemPage`, and requests without a route. */
export function answerErrors(
  app: Server,
  logger: Logger,
  sendProblemPage: (reply: FastifyReply, problem: Problem) => FastifyReply,
): void {
  app.setErrorHandler((error, { user, routeOptions: { config } }, reply) => {
    const problem = user === null && error instanceof MirrorError ? AWAY : problemFor(error, logger);
    return config.signsIn === true ? sendProblemPage(reply, problem) : sendProblem(reply, problem);
  });
  const nowhere = { status: 404, ...NOT_FOUND, apiHint: 'GET /openapi.json lists the available paths.' };
  app.setNotFoundHandler((request, reply) =>
    wantsPage(request) ? sendProblemPage(reply, nowhere) : sendProblem(reply, nowhere),
  );
}

/** Answers bytes that could not be parsed as HTTP, or that came too slowly; they never reach a route. */
export function answerMalformed(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const problem = OF_CONNECTIONS[error.code] ?? { ...MALFORMED, status: 400 };
  const body = problemText(problem);
  const status = `${problem.status} ${STATUS_CODES[problem.status] ?? ''}`;
  const headers = `content-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
}

export function sendError(reply: FastifyReply, error: unknown, logger: Logger): FastifyReply {
  return sendProblem(reply, problemFor(error, logger));
}

/** The problem of an error; for a bug, only the number under which it is logged. */
function problemFor(error: unknown, logger: Logger): Problem {
  const problem = problemOf(error);
  if (problem !== null) return problem;
  const id = randomUUID();
  logger.error({ err: error, id }, 'a request failed');
  return {
    status: 500,
    code: 'http.internal',
    detail: 'Unexpected error.',
    hint: `Find it in the log under the id ${id}.`,
    more: { id },
  };
}

/** The HTTP status of each fault that is not one by its ending or its beginning; a usage fault without any is 400. */
const STATUS: Readonly<Record<string, number>> = {
  'outbox.ended': 410,
  'record.unknown_kind': 404,
  'outbox.wrong_state': 409,
  'outbox.in_work': 409,
  'outbox.conflict': 409,
  'plan.own': 403,
  'plan.foreign': 403,
  'http.forbidden': 403,
  'http.body_too_large': 413,
  'plan.empty': 422,
  'webhooks.refused': 422,
  'outbox.double': 422,
  'outbox.invalid': 422,
  'outbox.no_record': 422,
  'usage.kind': 422,
  'usage.id': 422,
  'mirror.null_character': 422,
  'server.full': 503,
  'search.preparing': 503,
};

function statusOf(error: SyncError): number | null {
  if (error instanceof MirrorError) return STATUS[error.code] ?? 503;
  if (error.code.endsWith('.absent')) return 404;
  if (error.code.endsWith('_taken')) return 409;
  const isOfPresentState = /^(?:plan|deletions)\./.test(error.code);
  return STATUS[error.code] ?? (isOfPresentState ? 409 : error instanceof UsageError ? 400 : null);
}

const RETRY_SECONDS = 5;

/** Hides details of the mirror from requests whose token cannot be verified. */
const AWAY: Problem = { status: 503, code: 'server.not_ready', detail: 'The mirror does not answer.' };

/** The problem document for an error; null for a bug, whose details the caller must not see. */
function problemOf(error: unknown): Problem | null {
  if (!(error instanceof SyncError)) return isOfFramework(error) ? problemOfFramework(error) : null;
  const { code, message: detail, hint } = error;
  const status = statusOf(error);
  if (status === null) return null;
  const headers = status === 503 ? { headers: { 'retry-after': String(RETRY_SECONDS) } } : {};
  return { status, code, detail, hint, ...headers };
}

/** Errors of the framework about a request, including a caller that hung up early. */
function isOfFramework(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number';
}

const NOT_FOUND = { code: 'http.not_found', detail: 'Nothing was found here.' };

/** Worded by us, because the framework's message may repeat the caller's text. */
const PROBLEMS_BY_STATUS: Readonly<Record<number, Omit<Problem, 'status'>>> = {
  404: NOT_FOUND,
  413: { code: 'http.body_too_large', detail: 'The body is too large.', hint: 'Send less in one request.' },
  415: {
    code: 'http.media_type',
    detail: 'Unsupported content type.',
    apiHint: 'Send Content-Type: application/json.',
  },
};

const MALFORMED = { code: 'http.malformed', detail: 'The request could not be read.' };

const OF_CONNECTIONS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'http.headers_too_large', detail: 'The headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'http.too_slow', detail: 'The request took too long.' },
};

const MAX_FAULTS = 10;

function problemOfFramework(error: FastifyError): Problem | null {
  const { statusCode: status = 500 } = error;
  if (status >= 500) return null;
  if (!hasZodFastifySchemaValidationErrors(error))
    return { status, ...(PROBLEMS_BY_STATUS[status] ?? MALFORMED) };
  const faults = error.validation
    .slice(0, MAX_FAULTS)
    .map(({ instancePath, message = '' }) => [instancePath.slice(1), message] as const);
  const paths = faults.map(([field, message]) => `${error.validationContext ?? ''}/${field}: ${message}`);
  return {
    status: 400,
    code: 'http.invalid_request',
    detail: withFullStop(paths.join('; ')),
    faults,
    apiHint: 'GET /openapi.json describes the expected requests.',
  };
}
