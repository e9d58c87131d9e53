import { fastify, LogController } from 'fastify';
import type { FastifyBaseLogger, RouteOptions } from 'fastify';
import type { Logger } from '../lib/log/logger.ts';
import type { Clock } from '../lib/time/clock.ts';
import { createAccess } from './access/access.ts';
import { createSignInCodes } from './access/credentials.ts';
import { answerOtherMethods, guard, requireToken } from './access/guard.ts';
import { answerErrors, sendError } from './answer/answer-errors.ts';
import { SECURITY_HEADERS } from './answer/security-headers.ts';
import { readBodies } from './body.ts';
import { createConnections } from './connections.ts';
import { validateByZod } from './json-schema.ts';
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
  ...[healthRoutes, signInRoutes, statusRoutes, runRoutes, changeRoutes, recordRoutes],
  ...[outboxRoutes, outboxWriteRoutes, deletionRoutes, webhookRoutes, webhookDecisionRoutes, openapiRoute],
  dashboardRoutes,
];

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
  const { clock, logger, token } = parts;
  const app = createApp(parts);
  const closing = endWaiting(app, clock);
  const waitingLimit = limits.createWaitingLimit(limits.WAITING);
  const access = createAccess({ token, clock, codes: parts.codes ?? createSignInCodes(clock) });
  const context: RouteContext = { ...ABSENT, ...parts, access, closing, waitingLimit };
  logRequests(app, logger);
  const registry = countRequests(app, context);
  guard(app, context);
  answerErrors(app, logger);
  readBodies(app);
  validateByZod(app);
  await describeApi(app, context);
  for (const addRoutes of ROUTES) addRoutes(app, context);
  metricsRoute(app, context, registry);
  answerOtherMethods(app);
  return app;
}

function createApp({ logger }: ServerParts): Server {
  const connections = createConnections();
  const app = fastify({
    loggerInstance: warningsOf(logger) satisfies FastifyBaseLogger,
    ...{ logController: new LogController({ disableRequestLogging: true }), trustProxy: false },
    routerOptions: { maxParamLength: limits.HEAD_BYTES }, // Longer parameters are refused by their schemas.
    ...{ bodyLimit: limits.BODY_BYTES, requestTimeout: limits.REQUEST_MS },
    ...{ keepAliveTimeout: limits.KEEP_ALIVE_MS, connectionTimeout: limits.STILL_MS },
    clientErrorHandler: connections.fail,
    http: {
      maxHeaderSize: limits.HEAD_BYTES,
      headersTimeout: limits.HEADERS_MS,
      connectionsCheckingInterval: limits.CHECK_MS,
      requireHostHeader: false, // The guard refuses it in the form of all our answers.
    },
    frameworkErrors: (error, _request, reply) => {
      void sendError(reply.headers(SECURITY_HEADERS), error, logger);
    },
  }) as unknown as Server;
  connections.watch(app);
  const routes: RouteOptions[] = [];
  app.decorate('routes', routes);
  app.addHook('onRoute', (route) => {
    routes.push(route);
  });
  return app;
}

/** Fastify's own lines say what ours say already. */
const warningsOf = (logger: Logger): Logger =>
  logger.isLevelEnabled('warn') ? logger.child({}, { level: 'warn' }) : logger;

/**
 * Bounds the time that closing takes: waiting requests are answered at once, slow ones have a few seconds.
 *
 * @returns A signal that fires once the server closes.
 */
function endWaiting(app: Server, clock: Pick<Clock, 'sleep'>): AbortSignal {
  const closing = new AbortController();
  const closed = new AbortController();
  app.addHook('preClose', (done) => {
    closing.abort();
    void cutOff(app, clock, closed.signal);
    done();
  });
  app.addHook('onSend', (_request, reply) => {
    if (closing.signal.aborted) void reply.header('connection', 'close'); // An idle connection would delay the close.
    return Promise.resolve();
  });
  app.addHook('onClose', (_app, done) => {
    closed.abort();
    done();
  });
  return closing.signal;
}

async function cutOff(app: Server, clock: Pick<Clock, 'sleep'>, closed: AbortSignal): Promise<void> {
  try {
    await clock.sleep(limits.CLOSE_MS, closed);
  } catch (error) {
    if (closed.aborted) return;
    throw error;
  }
  app.server.closeAllConnections();
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
