import type { FastifyReply, FastifyRequest } from 'fastify';
import { UsageError } from '../../lib/sync-error.ts';
import { sendProblem } from '../answer/problem.ts';
import type { Problem } from '../answer/problem.ts';
import { SECURITY_HEADERS } from '../answer/security-headers.ts';
import { sendSignIn } from '../pages/sign-in-page.ts';
import type { ServerParts } from '../parts.ts';
import type { RouteContext, Server } from '../server.ts';
import { hostRefusal } from './hosts.ts';
import { isLoopback } from './loopback.ts';
import { originRefusal } from './origins.ts';

/** @throws {UsageError} `server.token_required` if other machines could reach a server without authentication. */
export function requireToken({ token, host }: Pick<ServerParts, 'token' | 'host'>): void {
  if (token !== null || isLoopback(host)) return;
  throw new UsageError(`The server would be reached from other machines (${host}) without a token.`, {
    code: 'server.token_required',
    hint: 'Set ADMIN_TOKEN to 32 characters or more, or HOST to 127.0.0.1.',
  });
}

/** Refuses requests without authentication: only routes marked as open need none. */
export function guard(app: Server, context: RouteContext): void {
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(SECURITY_HEADERS);
    const refusal = refusalOf(request, context);
    if (refusal !== null) return refuse(request, reply, refusal);
    const { allow } = request.routeOptions.config;
    if (allow !== undefined) return sendProblem(reply, notAllowed(allow));
  });
}

const changes = ({ method }: FastifyRequest): boolean => !['GET', 'HEAD', 'OPTIONS'].includes(method);

function refusalOf(request: FastifyRequest, { access, host, names }: RouteContext): Problem | null {
  const { headers } = request;
  const foreign = hostRefusal(headers.host, { host, names });
  if (foreign !== null) return foreign;
  const isOpen = request.routeOptions.config.open === true;
  if (!isOpen) {
    const verdict = access.judge(request);
    if ('refusal' in verdict) return verdict.refusal;
    request.caller = verdict.caller;
  }
  if (!changes(request)) return null;
  if (!access.hasToken && !isOpen) return READ_ONLY;
  const isByCookie = request.caller === 'cookie';
  return originRefusal({ origin: headers.origin, host: headers.host ?? '', isByCookie });
}

const READ_ONLY: Problem = {
  status: 403,
  code: 'server.read_only',
  detail: 'Without ADMIN_TOKEN, nothing can be changed here.',
  hint: 'Set ADMIN_TOKEN to 32 characters or more, or use the command line.',
};

function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Problem): FastifyReply {
  const isAsked = request.routeOptions.config.signsIn === true && [401, 429].includes(refusal.status);
  return isAsked ? sendSignIn(reply, refusal) : sendProblem(reply, refusal);
}

function notAllowed(allow: string): Problem {
  return {
    status: 405,
    code: 'http.method_not_allowed',
    detail: `Only ${allow} can be used here.`,
    headers: { allow },
  };
}
