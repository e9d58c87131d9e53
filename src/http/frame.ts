import { isUtf8 } from 'node:buffer';
import { fastify, LogController, type FastifyBaseLogger, type FastifyRequest } from 'fastify';
import { MAX_DEPTH, isNestedDeeper, tryParseJson, type Json } from '../lib/json/json.ts';
import type { Logger } from '../lib/log/logger.ts';
import { UsageError } from '../lib/sync-error.ts';
import { answerMalformed, sendError } from './answer-errors.ts';
import * as limits from './limits.ts';
import type { Server } from './server.ts';

/** Creates the application, with our limits on what a caller may send and how slowly. */
export function createApp(logger: Logger): Server {
  // Fastify's own lines would repeat ours.
  const warnings = logger.isLevelEnabled('warn') ? logger.child({}, { level: 'warn' }) : logger;
  const app = fastify({
    loggerInstance: warnings satisfies FastifyBaseLogger,
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
  app.server.maxConnections = limits.MAX_CONNECTIONS;
  return app;
}

/** Ends streams once the server closes, and other requests within a few seconds. */
export function endStreams(app: Server): AbortSignal {
  const closing = new AbortController();
  app.addHook('preClose', (done) => {
    closing.abort();
    setTimeout(() => { app.server.closeAllConnections(); }, limits.CLOSE_MS).unref(); // prettier-ignore
    done();
  });
  return closing.signal;
}

/**
 * Logs answers. A change is logged at a higher level, with the caller and how it was authenticated. Only the route of the URL is
 * logged, because the rest may hold anything.
 */
export function logRequests(app: Server, logger: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, user: caller, routeOptions, entryId } = request;
    const { statusCode: status, elapsedTime } = reply;
    const by = { caller: caller?.by ?? null, who: caller?.name ?? null };
    const logFields = { method, route: routeOptions.url ?? null, status, ...by, ms: Math.round(elapsedTime) };
    const isChange = !['GET', 'HEAD'].includes(method) && routeOptions.config.isRead !== true && status < 400;
    if (!isChange) logger.debug(logFields, 'answered');
    else {
      const changed = entryId === null ? (routeOptions.url ?? '') : `entry ${entryId} of the outbox`;
      const target = { target: request.params, ...(entryId !== null && { entryId }) };
      logger.info({ ...logFields, ...target }, `changed by HTTP: ${changed}`);
    }
    done();
  });
}

/** Deeper than any value that can be stored, so that the check of the field itself refuses it and names the field. */
const DEEPEST_BODY = 2 * MAX_DEPTH;

/** Reads bodies of JSON without rounding a number, and no others. */
export function readBodies(app: Server): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, body: Buffer) => Promise.resolve(readJson(body)),
  );
}

/** @throws {UsageError} `http.not_json`. */
function readJson(body: Buffer): Json {
  if (body.length === 0) return null;
  const json = tryParseJson(decodeBody(body));
  if (json === undefined || isNestedDeeper(json, DEEPEST_BODY)) throw notJson();
  return json;
}

/** Decodes a body without replacing a byte that is not UTF-8. @throws {UsageError} `http.not_json`. */
export function decodeBody(body: Buffer): string {
  if (!isUtf8(body)) throw notJson();
  return new TextDecoder().decode(body);
}

const notJson = (): UsageError =>
  new UsageError('The body is not JSON.', {
    code: 'http.not_json',
    hint: `Send JSON in UTF-8, nested no deeper than ${DEEPEST_BODY} levels.`,
  });
