import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { findRun, listRuns, runsAfter } from '../store/runs/run-store.ts';
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

const listed = {
  summary: 'List the latest runs, newest first; or page by page',
  tags: ['Runs'],
  querystring: z.strictObject({ after: afterId, limit: wholeNumber(1, 1000).default(20) }),
  response: { 200: z.object({ runs: z.array(run), next: nextId }) },
};

const shown = {
  summary: 'Show one run, kind by kind',
  tags: ['Runs'],
  operationId: 'showRun',
  params: rowPath,
  response: { 200: run.extend({ reports: z.array(report) }) },
};

/** Routes of runs and of requested pulls. */
export function runRoutes(app: Server, { session, clock }: RouteContext): void {
  app.get('/v1/runs', { schema: listed }, async ({ query: { after, limit } }, reply) => {
    const now = clock.now();
    const runs =
      after === undefined
        ? await listRuns(session, { limit, now })
        : await runsAfter(session, after, limit, now);
    return sendJsonText(reply, JSON.stringify({ runs, ...nextAfter(after, runs) }));
  });
  app.get('/v1/runs/:id', { schema: shown }, async ({ params: { id } }, reply) => {
    const found = await findRun(session, id, clock.now());
    if (found === null)
      throw new SyncError(`There is no run ${id}.`, {
        code: 'run.absent',
        hint: 'GET /v1/runs lists those that are kept.',
      });
    return sendJsonText(reply, JSON.stringify(found));
  });
}
