import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { findRun, listRuns, runsAfter } from '../mirror/runs/run-store.ts';
import { sendJsonText } from '../http/send.ts';
import { rowPath, wholeNumber } from '../operations/inputs.ts';
import { afterId, instant, nextAfter, nextId } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';

const run = z.object({
  id: z.int(),
  command: z.string(),
  kinds: z.array(z.string()),
  state: z.enum(['requested', 'running', 'done', 'incomplete', 'failed', 'interrupted']),
  reason: z.string().nullable(),
  startedAt: instant.nullable(),
  finishedAt: instant.nullable(),
});

const COUNTS = ['pages', 'rows', 'created', 'updated', 'deleted', 'restored', 'unchanged'] as const;
const MORE_COUNTS = ['quarantined', 'requests', 'retries', 'durationMs'] as const;

const report = z.object({
  kind: z.string(),
  state: z.enum(['certified', 'complete', 'invalid', 'aborted', 'busy']),
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  certifiedAt: instant.nullable(),
  ...Object.fromEntries([...COUNTS, ...MORE_COUNTS].map((name) => [name, z.int()])),
});

const tags = ['Runs'];

/** Routes of runs and of requested pulls. */
export function runRoutes(app: Server, context: RouteContext): void {
  const { session, clock } = context;
  const query = z.strictObject({ after: afterId, limit: wholeNumber(1, 1000).default(20) });
  app.get(
    '/v1/runs',
    {
      schema: {
        summary: 'List the latest runs, newest first; or page by page',
        tags,
        querystring: query,
        response: { 200: z.object({ runs: z.array(run), next: nextId }) },
      },
    },
    async ({ query: { after, limit } }, reply) => {
      const now = clock.now();
      const found =
        after === undefined
          ? await listRuns(session, { limit, now })
          : await runsAfter(session, after, limit, now);
      return sendJsonText(reply, JSON.stringify({ runs: found, ...nextAfter(after, found) }));
    },
  );
  app.get(
    '/v1/runs/:id',
    {
      schema: {
        summary: 'Show one run, kind by kind',
        tags,
        operationId: 'showRun',
        params: rowPath,
        response: { 200: run.extend({ reports: z.array(report) }) },
      },
    },
    async ({ params }, reply) => {
      const found = await findRun(session, params.id, clock.now());
      if (found === null)
        throw new SyncError(`There is no run ${params.id}.`, {
          code: 'run.absent',
          hint: 'GET /v1/runs lists those that are kept.',
        });
      return sendJsonText(reply, JSON.stringify(found));
    },
  );
}
