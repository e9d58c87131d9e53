import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { findRun, listRuns, runsAfter } from '../store/runs/run-store.ts';
import { sendDocument } from '../http/send.ts';
import { rowPath, wholeNumber } from '../operations/inputs.ts';
import { instant } from '../lib/json/document.ts';
import { afterId, nextAfter, nextId } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';

const run = z.object({
  id: z.int(),
  command: z.string(),
  kinds: z.array(z.string()),
  state: z.enum(['requested', 'running', 'done', 'incomplete', 'failed', 'interrupted']),
  reason: z.string().nullable(),
  startedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  slot: z.string().nullable().describe('of a schedule: name@time, and name@time#n for its n-th repeat'),
});

const report = z.object({
  kind: z.string(),
  state: z.enum(['certified', 'complete', 'invalid', 'aborted', 'busy']),
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  certifiedAt: instant.nullable(),
  pages: z.int(),
  rows: z.int(),
  created: z.int(),
  updated: z.int(),
  deleted: z.int(),
  restored: z.int(),
  unchanged: z.int(),
  quarantined: z.int(),
  requests: z.int(),
  retries: z.int(),
  durationMs: z.int(),
});

const listedRun = run.extend({ repeats: z.array(run).describe('of its slot, oldest first') });
const runs = z.object({ runs: z.array(listedRun), next: nextId });
const shownRun = run.extend({ reports: z.array(report) });

const listSchema = {
  summary: 'List the latest runs, newest first; or page by page',
  tags: ['Runs'],
  querystring: z.strictObject({ after: afterId, limit: wholeNumber(1, 1000).default(20) }),
  response: { 200: runs },
};

const showSchema = {
  summary: 'Show one run, kind by kind',
  tags: ['Runs'],
  operationId: 'showRun',
  params: rowPath,
  response: { 200: shownRun },
};

/** Routes of runs and of requested pulls. */
export function runRoutes(app: Server, { session, clock }: RouteContext): void {
  app.get('/v1/runs', { schema: listSchema }, async ({ query: { after, limit } }, reply) => {
    const now = clock.now();
    const page =
      after === undefined
        ? await listRuns(session, { limit, now })
        : await runsAfter(session, after, limit, now);
    return sendDocument<typeof runs>(reply, { runs: page, ...nextAfter(after, page) });
  });
  app.get('/v1/runs/:id', { schema: showSchema }, async ({ params: { id } }, reply) => {
    const stored = await findRun(session, id, clock.now());
    const hint = 'GET /v1/runs lists the stored runs.';
    if (stored === null) throw new SyncError(`Run ${id} does not exist.`, { code: 'run.absent', hint });
    return sendDocument<typeof shownRun>(reply, stored);
  });
}
