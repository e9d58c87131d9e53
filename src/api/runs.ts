import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { findRun, listRuns, readTries, runsAfter } from '../store/runs/run-store.ts';
import { sendDocument } from '../http/send.ts';
import { rowPath, wholeNumber } from '../operations/inputs.ts';
import { runList, shownRun } from '../runs/run-document.ts';
import { afterId, nextAfter, nextId } from './fields.ts';
import type { RouteContext, Server } from '../http/server.ts';

const runs = runList.extend({ next: nextId });

const listSchema = {
  summary: 'List the latest runs, newest first; or page by page',
  querystring: z.strictObject({ after: afterId, limit: wholeNumber(1, 1000).default(20) }),
  response: { 200: runs },
};

const showSchema = {
  summary: 'Show one run, kind by kind',
  operationId: 'showRun',
  params: rowPath,
  response: { 200: shownRun },
};

/** Routes of runs and of requested pulls. */
export function runRoutes(app: Server, { session }: RouteContext): void {
  app.get('/v1/runs', { schema: listSchema }, async ({ query: { after, limit } }, reply) => {
    const page =
      after === undefined ? await listRuns(session, { limit }) : await runsAfter(session, after, limit);
    return sendDocument(reply, runs, { runs: page, ...nextAfter(after, page) });
  });
  app.get('/v1/runs/:id', { schema: showSchema }, async ({ params: { id } }, reply) => {
    const stored = await findRun(session, id);
    const hint = 'GET /v1/runs lists the stored runs.';
    if (stored === null) throw new SyncError(`Run ${id} does not exist.`, { code: 'run.absent', hint });
    return sendDocument(reply, shownRun, { ...stored, tries: await readTries(session, stored) });
  });
}
