import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import * as features from '../features.ts';
import { createAccess } from '../http/access.ts';
import { guardRequests, requireToken } from '../http/guard.ts';
import { answerErrors } from '../http/answer-errors.ts';
import { chooseLanguages } from '../http/language.ts';
import { createApp, endStreams, logRequests, readBodies } from '../http/frame.ts';
import { secureAnswers } from '../http/security-headers.ts';
import * as limits from '../http/limits.ts';
import { packageVersion } from '../lib/package-folder.ts';
import { countRequests, metricsRoute } from '../api/metrics.ts';
import { describeApi, openapiRoute } from '../http/openapi.ts';
import { languageRoute } from '../dashboard/parts/language-switch.ts';
import { sendProblemPage } from '../dashboard/parts/problem-page.ts';
import { dashboardRoutes } from '../dashboard/dashboard.ts';
import { sendSignIn, signInRoutes } from '../dashboard/sign-in-page.ts';
import { changeRoutes } from '../api/changes.ts';
import { documentRoutes } from '../api/documents.ts';
import { healthRoutes } from '../api/health.ts';
import { operationRoutes } from '../api/operations.ts';
import { outboxRoutes } from '../api/outbox.ts';
import { recordRoutes } from '../api/records.ts';
import { pushRoutes } from '../api/push.ts';
import { runRoutes } from '../api/runs.ts';
import { CORE_OPERATIONS } from '../operations/all.ts';
import { createUploadLimit, UPLOAD_BYTES } from '../http/upload-limit.ts';
import type { RouteContext, Server, ServerSettings, ServingProcess } from '../http/server.ts';

const ROUTES = [
  healthRoutes,
  documentRoutes,
  runRoutes,
  changeRoutes,
  recordRoutes,
  outboxRoutes,
  pushRoutes,
];

/**
 * Wrong tokens from one address (of IPv6: one /64) in a minute, after which they are answered with 429. The right token is always
 * accepted, because other clients may share its address.
 */
const WRONG_TOKENS = { global: false, max: 19, timeWindow: 60_000, cache: 10_000 };

/** One file in a form, and a few fields beside it. */
const UPLOAD_LIMITS = { fileSize: UPLOAD_BYTES, files: 1, fields: 10, fieldSize: 1_000, headerPairs: 20 };

/**
 * Creates the HTTP server; the caller listens on `settings.host`, and closes it.
 * @param signInCode Signs a browser in by a link.
 * @throws {SyncError} `server.token_required` if other machines could reach it and no token is required.
 */
export async function createServer(process: ServingProcess, settings: ServerSettings, signInCode: string) {
  requireToken(settings);
  const { logger } = process;
  const { token } = settings;
  const app = createApp(logger);
  await secureAnswers(app);
  await app.register(cookie, token === null ? {} : { secret: token });
  await app.register(rateLimit, WRONG_TOKENS);
  const context: RouteContext = {
    ...process,
    ...settings,
    version: packageVersion(),
    needsOfFeatures: features.needsOfFeatures,
    access: createAccess(process, settings, signInCode, app.createRateLimit()),
    closing: endStreams(app),
    streamLimit: limits.createShares('open streams', limits.STREAMS),
    waitLimit: limits.createShares('waiting pushes', limits.STREAMS),
    uploadLimit: createUploadLimit(),
  };
  logRequests(app, logger);
  const registry = countRequests(app, context);
  chooseLanguages(app, context);
  guardRequests(app, context, sendSignIn, sendProblemPage);
  answerErrors(app, logger, sendProblemPage);
  readBodies(app);
  await describeApi(app, context);
  for (const addRoutes of [...ROUTES, ...(await features.loadAll(features.ROUTES))]) addRoutes(app, context);
  const operations = [...CORE_OPERATIONS, ...(await features.loadAll(features.OPERATIONS)).flat()];
  operationRoutes(app, context, operations);
  openapiRoute(app);
  metricsRoute(app, context, registry);
  const fileLinks = await features.loadAll(features.FILE_LINKS);
  const pages = await features.loadAll(features.PAGE_ROUTES);
  await app.register(async (dashboard: Server) => {
    await dashboard.register(formbody); // Forms are for the pages only.
    await dashboard.register(multipart, { limits: UPLOAD_LIMITS });
    languageRoute(dashboard);
    signInRoutes(dashboard, context);
    dashboardRoutes(dashboard, context, { operations, pages, fileLinks });
  });
  return app;
}
