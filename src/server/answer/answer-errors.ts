import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Logger } from '../../lib/logger.ts';
import type { Server } from '../server.ts';
import { problemOf } from './problem-of-error.ts';
import { sendProblem } from './problem.ts';

/** Answers thrown errors, and requests without a route. */
export function answerErrors(app: Server, logger: Logger): void {
  app.setErrorHandler((error, _request, reply) => sendError(reply, error, logger));
  app.setNotFoundHandler((_request, reply) =>
    sendProblem(reply, {
      status: 404,
      code: 'http.not_found',
      detail: 'There is nothing here.',
      hint: 'GET /openapi.json tells what there is.',
    }),
  );
}

/** Sends an error as a problem document; for a bug, only the number under which it is logged. */
export function sendError(reply: FastifyReply, error: unknown, logger: Logger): FastifyReply {
  const problem = problemOf(error);
  if (problem !== null) return sendProblem(reply, problem);
  const id = randomUUID();
  logger.error({ err: error, id }, 'a request failed');
  return sendProblem(reply, {
    status: 500,
    code: 'http.internal',
    detail: 'An error that should not happen.',
    hint: `The log has it under the id ${id}.`,
    more: { id },
  });
}
