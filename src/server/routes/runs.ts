import * as z from 'zod';
import { isListed } from '../../catalog/kind.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { requestPull } from '../../mirror/runs/run-requests.ts';
import { findRun, listRuns, runsAfter } from '../../mirror/runs/run-store.ts';
import { sendJson, sendJsonText } from '../answer/send.ts';
import { afterId, instant, kindName, nextAfter, nextId, pulledKinds, rowId, wholeNumber } from '../fields.ts';
import type { RouteContext, Server } from '../server.ts';

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

const requested = z.object({ runId: z.int(), state: z.literal('requested'), kinds: z.array(z.string()) });
const tags = ['Runs'];

/** Routes of runs and of requested pulls. */
export function runRoutes(app: Server, context: RouteContext): void {
  const { session, clock } = context;
  const query = z.strictObject({ after: afterId, limit: wholeNumber(1, 1000).default(20) });
  app.get(
    '/v1/runs',
    {
      schema: {
        ...{ summary: 'List the latest runs, newest first; or page by page', tags, querystring: query },
        response: { 200: z.object({ runs: z.array(run), next: nextId }) },
      },
    },
    async ({ query: { after, limit } }, reply) => {
      const now = clock.now();
      const found =
        after === undefined
          ? await listRuns(session, { limit, now })
          : await runsAfter(session, { after, limit, now });
      return sendJsonText(reply, JSON.stringify({ runs: found, ...nextAfter(after, found) }));
    },
  );
  app.get(
    '/v1/runs/:id',
    {
      schema: {
        ...{ summary: 'Show one run, kind by kind', tags, operationId: 'showRun', params: rowId },
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
  pullRoute(app, context);
}

function pullRoute(app: Server, { session, kinds, clock, wakeEngine }: RouteContext): void {
  const name = kindName(kinds.filter(isListed));
  const pulls = z.strictObject({ kinds: z.array(name).max(1000).default([]) });
  app.post(
    '/v1/pulls',
    {
      schema: {
        ...{ summary: 'Ask for a pull of these kinds; of all where none is named', tags },
        ...{ body: pulls.nullable(), response: { 202: requested } },
      },
    },
    async ({ body }, reply) => {
      const wanted = pulledKinds(kinds, body?.kinds ?? []);
      await session.makeDurable(); // A caller that got 202 will not repeat the request, so the run must survive a power cut.
      const runId = await session.atomically((tx) =>
        requestPull(tx, { kinds: wanted, request: 'the HTTP API', now: clock.now() }),
      );
      wakeEngine();
      void reply.code(202).header('location', `/v1/runs/${runId}`);
      return sendJson(reply, { runId, state: 'requested', kinds: wanted });
    },
  );
}
