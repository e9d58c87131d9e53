import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import rateLimit from '@fastify/rate-limit';
import { fastify, LogController } from 'fastify';
import type { FastifyBaseLogger } from 'fastify';
import type { Logger } from '../lib/log/logger.ts';
import { createAccess } from './access/access.ts';
import { createSignInCodes } from './access/credentials.ts';
import { guard, requireToken } from './access/guard.ts';
import { answerErrors, answerMalformed, sendError } from './answer/answer-errors.ts';
import { secureAnswers } from './answer/security-headers.ts';
import { readBodies } from './bodies.ts';
import * as limits from './limits.ts';
import { countRequests, metricsRoute } from './metrics.ts';
import { describeApi, openapiRoute } from './openapi.ts';
import { dashboardRoutes } from './pages/dashboard.ts';
import { signInRoutes } from './pages/sign-in-page.ts';
import { changeRoutes } from './routes/changes.ts';
import { deletionRoutes } from './routes/deletions.ts';
import { healthRoutes } from './routes/health.ts';
import { outboxWriteRoutes } from './routes/outbox-writes.ts';
import { outboxRoutes } from './routes/outbox.ts';
import { recordRoutes } from './routes/records.ts';
import { runRoutes } from './routes/runs.ts';
import { statusRoutes } from './routes/status.ts';
import { webhookDecisionRoutes } from './routes/webhook-decisions.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import type { RouteContext, Server, ServerParts } from './server.ts';

const ROUTES = [
  ...[healthRoutes, statusRoutes, runRoutes, changeRoutes, recordRoutes, outboxRoutes],
  ...[outboxWriteRoutes, deletionRoutes, webhookRoutes, webhookDecisionRoutes, openapiRoute],
];

/**
 * Wrong tokens from one address (of IPv6: one /64) in a minute, after which they are answered with 429. The right token is always
 * accepted, because other clients may share its address.
 */
const WRONG_TOKENS = { global: false, max: 19, timeWindow: 60_000, cache: 10_000 };

/** Stands for the parts that a server may lack. */
const ABSENT: Pick<RouteContext, 'wakeEngine' | 'webhooks'> = {
  wakeEngine: () => undefined,
  webhooks: { allowHosts: [] },
};

/**
 * Creates the HTTP server; the caller listens on `parts.host` and `parts.port`, and closes it.
 *
 * @throws {SyncError} `server.token_required` if other machines could reach it and no token is required.
 */
export async function createServer(parts: ServerParts): Promise<Server> {
  requireToken(parts);
  const { clock, logger, token, codes = createSignInCodes(clock) } = parts;
  const app = createApp(parts);
  await secureAnswers(app);
  await app.register(cookie, token === null ? {} : { secret: token });
  await app.register(rateLimit, WRONG_TOKENS);
  const context: RouteContext = {
    ...ABSENT,
    ...parts,
    access: createAccess({ token, clock, codes, countWrong: app.createRateLimit() }),
    closing: endStreams(app),
    streamLimit: limits.createStreamLimit(limits.STREAMS),
  };
  logRequests(app, logger);
  const registry = countRequests(app, context);
  guard(app, context);
  answerErrors(app, logger);
  readBodies(app);
  await describeApi(app, context);
  for (const addRoutes of ROUTES) addRoutes(app, context);
  metricsRoute(app, context, registry);
  await app.register(async (pages: Server) => {
    await pages.register(formbody); // Forms are for the pages only.
    signInRoutes(pages, context);
    dashboardRoutes(pages, context);
  });
  return app;
}

function createApp({ logger }: ServerParts): Server {
  const app = fastify({
    loggerInstance: warningsOf(logger) satisfies FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: false,
    routerOptions: { maxParamLength: limits.HEAD_BYTES }, // Longer parameters are refused by their schemas.
    bodyLimit: limits.BODY_BYTES,
    requestTimeout: limits.REQUEST_MS,
    keepAliveTimeout: limits.KEEP_ALIVE_MS,
    connectionTimeout: limits.STILL_MS,
    clientErrorHandler: answerMalformed,
    http: {
      maxHeaderSize: limits.HEAD_BYTES,
      headersTimeout: limits.HEADERS_MS,
      connectionsCheckingInterval: limits.CHECK_MS,
      requireHostHeader: false, // The guard refuses it in the form of all our answers.
    },
    frameworkErrors: (error, _request, reply) => {
      void sendError(reply, error, logger);
    },
  }) as unknown as Server;
  app.server.maxConnections = limits.CONNECTIONS;
  return app;
}

/** Fastify's own lines say what ours say already. */
const warningsOf = (logger: Logger): Logger =>
  logger.isLevelEnabled('warn') ? logger.child({}, { level: 'warn' }) : logger;

/** Has streams end once the server closes, and other requests within a few seconds. */
function endStreams(app: Server): AbortSignal {
  const closing = new AbortController();
  app.addHook('preClose', (done) => {
    closing.abort();
    setTimeout(() => { app.server.closeAllConnections(); }, limits.CLOSE_MS).unref(); // prettier-ignore
    done();
  });
  return closing.signal;
}

/**
 * Logs answers. A change is logged at a higher level, with the way the caller was authenticated. Only the route of the URL is
 * logged, because the rest may hold anything.
 */
function logRequests(app: Server, logger: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, caller, routeOptions, entryId } = request;
    const { statusCode: status, elapsedTime } = reply;
    const told = { method, route: routeOptions.url ?? null, status, caller, ms: Math.round(elapsedTime) };
    const isChange = !['GET', 'HEAD'].includes(method) && status < 400;
    const target = { target: request.params, ...(entryId !== null && { entryId }) };
    if (isChange) logger.info({ ...told, ...target }, changeText(routeOptions.url, entryId));
    else logger.debug(told, 'answered');
    done();
  });
}

const changeText = (route: string | undefined, entryId: number | null): string =>
  entryId === null ? `changed by HTTP: ${route ?? ''}` : `changed by HTTP: entry ${entryId} of the outbox`;
