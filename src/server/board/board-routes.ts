import { createBullBoard } from '@bull-board/api';
import { FastifyAdapter } from '@bull-board/fastify';
import { z } from 'zod';
import type { QueueViews } from '../../jobs/queue-views.ts';
import { sendError } from '../answer/answer-errors.ts';
import { SECURITY_HEADERS } from '../answer/security-headers.ts';
import type { Context, Server } from '../server.ts';
import { readsOf } from './board-api.ts';
import { BOARD_POLICY } from './board-policy.ts';

const UI = {
  boardTitle: 'bms-sync: queues',
  favIcon: { default: 'static/images/logo.svg', alternative: 'static/favicon-32x32.png' },
  ...{ hideDocsLink: true, showMetrics: false, sortQueues: true },
};

const FEW = /^(?:[1-9]\d{0,2})?$/; // An empty one is as good as none.
const SOME = /^(?:[1-9]\d{0,5})?$/;
const NAME = /^[\x20-\x24\x26-\x7e]{0,300}$/; // No percent sign: bull-board decodes it once more.

const querystring = z.looseObject({
  ...{ jobsPerPage: z.string().regex(FEW).optional(), page: z.string().regex(SOME).optional() },
  ...{ activeQueue: z.string().regex(NAME).optional(), queueName: z.string().regex(NAME).optional() },
});
const params = z.looseObject({
  queueName: z.string().regex(NAME).optional(),
  jobId: z.string().regex(NAME).optional(),
});

export interface Board {
  readonly prefix: string;
  readonly views: QueueViews;
}

/** Serves bull-board under `prefix`: what it shows of the queues, and nothing that changes them. */
export async function boardRoutes(
  app: Server,
  { logger }: Pick<Context, 'logger'>,
  board: Board,
): Promise<void> {
  const adapter = readOnlyAdapter(board);
  createBullBoard({ queues: [], serverAdapter: adapter, options: { uiConfig: UI } });
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true, querystring, params };
      route.errorHandler = (error, _request, reply) => void sendError(reply, error, logger);
    });
    scope.addHook('onRequest', (_request, reply, done) => {
      void reply.header('content-security-policy', BOARD_POLICY);
      done();
    });
    scope.addHook('onSend', (_request, reply) => {
      void reply.header('cache-control', SECURITY_HEADERS['cache-control']); // Files would bring one of their own.
      return Promise.resolve();
    });
    await scope.register(adapter.registerPlugin());
  });
}

/** With whole paths instead of a prefix of Fastify's, which serves one with a slash at its end that no hook hears of. */
function readOnlyAdapter({ prefix, views }: Board): FastifyAdapter {
  const adapter = new FastifyAdapter().setBasePath(prefix);
  const setApiRoutes = adapter.setApiRoutes.bind(adapter);
  const setEntryRoute = adapter.setEntryRoute.bind(adapter);
  const setStaticPath = adapter.setStaticPath.bind(adapter);
  const under = (paths: string | string[]): string[] => [paths].flat().map((path) => `${prefix}${path}`);
  adapter.setApiRoutes = (routes) =>
    setApiRoutes(readsOf(routes, views).map((route) => ({ ...route, route: under(route.route) })));
  adapter.setEntryRoute = (pages) => setEntryRoute({ ...pages, route: [prefix, ...under(pages.route)] });
  adapter.setStaticPath = (path, folder) => setStaticPath(`${prefix}${path}`, folder);
  return adapter;
}
