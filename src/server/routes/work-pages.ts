import { z } from 'zod';
import { latestSeq } from '../../feed/read-changes.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { readDrift } from '../../mirror/kinds/drift-store.ts';
import { countIssues } from '../../mirror/kinds/status-store.ts';
import { countEntries, listEntries } from '../../mirror/outbox/outbox-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { readChangeLogSize } from '../../mirror/records/change-store.ts';
import { readDisappeared } from '../../mirror/records/deletion-store.ts';
import { listOpenIssues } from '../../mirror/records/issue-store.ts';
import { findRecord } from '../../mirror/records/record-store.ts';
import { findRun } from '../../mirror/runs/run-store.ts';
import { databaseVersion, databaseSize, tableSizes } from '../../mirror/session/database-facts.ts';
import type { Queryable } from '../../mirror/session/session.ts';
import { listDeliveries } from '../../mirror/webhooks/delivery-store.ts';
import { listEndpoints } from '../../mirror/webhooks/endpoint-store.ts';
import { OPEN_STATES, STATES, candidatesOf, readHistory } from '../../outbound/decisions/entry-list.ts';
import type { Dashboard } from '../pages/parts/page.ts';
import { rowId } from '../fields.ts';
import { deletionsPage } from '../pages/deletions-page.ts';
import { entryPage } from '../pages/entry-page.ts';
import type { Candidate } from '../pages/entry-page.ts';
import { issuesPage } from '../pages/issues-page.ts';
import { sendPage, before, chosen, config, done, pageSchema } from '../pages/parts/page.ts';
import { outboxPage } from '../pages/outbox-page.ts';
import { PAGE_ROWS, listPage } from '../pages/parts/paging.ts';
import { readRuns } from '../pages/parts/read-overview.ts';
import { runPage, runsPage } from '../pages/runs-page.ts';
import { storagePage } from '../pages/storage-page.ts';
import { webhooksPage } from '../pages/webhooks-page.ts';
import type { Server } from '../server.ts';

/** One row more than a page shows tells whether there is a next page. */
const LIMIT = PAGE_ROWS + 1;
const RUNS_DRAWN = 200;
const DRIFT_SHOWN = 50;

/** The pages of the work on the mirror: runs, the outbox, deletions, issues, webhooks, sizes. */
export function workPageRoutes(app: Server, dashboard: Dashboard): void {
  runRoutes(app, dashboard);
  outboxRoutes(app, dashboard);
  deletionsRoute(app, dashboard);
  issuesRoute(app, dashboard);
  webhooksRoute(app, dashboard);
  storageRoute(app, dashboard);
}

function runRoutes(app: Server, dashboard: Dashboard): void {
  const { session, clock } = dashboard;
  const schema = { ...pageSchema('Show runs'), querystring: z.object({ before }) };
  app.get('/runs', { config, schema }, async ({ query }, reply) => {
    const page = listPage(await readRuns(dashboard, { ...query, limit: LIMIT }), ({ id }) => id);
    const recent = await readRuns(dashboard, { limit: RUNS_DRAWN });
    const content = runsPage({ page, recent, query, now: clock.now() });
    return sendPage(reply, { title: 'Runs', part: '/runs', content, after: await latestSeq(session) });
  });
  app.get(
    '/runs/:id',
    { config, schema: { ...pageSchema('Show one run'), params: rowId } },
    async ({ params }, reply) => {
      const run = await findRun(session, params.id, clock.now());
      if (run === null)
        throw new SyncError(`There is no run ${params.id}, or it was removed.`, { code: 'run.absent' });
      const page = { title: `Run ${params.id}`, part: '/runs', content: runPage(run) };
      return sendPage(reply, {
        ...page,
        ...(run.finishedAt === null && { after: await latestSeq(session) }),
      });
    },
  );
}

function outboxRoutes(app: Server, { session, clock, access }: Dashboard): void {
  const state = z.enum(['', 'open', ...STATES]).optional();
  const schema = { ...pageSchema('Show the outbox'), querystring: z.object({ state, before, done }) };
  app.get('/outbox', { config, schema }, async ({ query }, reply) => {
    const { state: wanted = '', before: last, done: carriedOut } = query;
    const states = wanted === '' ? STATES : wanted === 'open' ? OPEN_STATES : [wanted];
    const read = await listEntries(session, { states, before: last, limit: LIMIT });
    const content = outboxPage({
      ...{ counts: await countEntries(session), now: clock.now(), page: listPage(read, ({ id }) => id) },
      query: { state: wanted === '' ? undefined : wanted, before: last },
    });
    const after = await latestSeq(session);
    return sendPage(reply, { title: 'Outbox', part: '/outbox', content, after, done: carriedOut });
  });
  const one = {
    ...pageSchema('Show one entry of the outbox'),
    params: rowId,
    querystring: z.object({ done }),
  };
  app.get('/outbox/:id', { config, schema: one }, async ({ params: { id }, query }, reply) => {
    const found = await readHistory(session, id);
    const candidates = await readCandidates(session, found.entry);
    const content = entryPage({ ...found, candidates, mayDecide: access.hasToken });
    const after = await latestSeq(session);
    return sendPage(reply, { title: `Entry ${id}`, part: '/outbox', content, after, done: query.done });
  });
}

const CANDIDATES_SHOWN = 3;

async function readCandidates(session: Queryable, entry: Entry): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  for (const id of candidatesOf(entry).slice(0, CANDIDATES_SHOWN))
    candidates.push({ id, raw: (await findRecord(session, entry.kind, id))?.raw ?? null });
  return candidates;
}

function deletionsRoute(app: Server, { session, clock, access }: Dashboard): void {
  const schema = { ...pageSchema('Show records that disappeared'), querystring: z.object({ done }) };
  app.get('/deletions', { config, schema }, async ({ query }, reply) => {
    const groups = await readDisappeared(session);
    const content = deletionsPage(groups, { now: clock.now(), mayDecide: access.hasToken });
    const after = await latestSeq(session);
    return sendPage(reply, { title: 'Deletions', part: '/deletions', content, after, done: query.done });
  });
}

function issuesRoute(app: Server, { session, kinds }: Dashboard): void {
  const names = kinds.map(({ name }) => name);
  const summary = 'Show values that fit no rule, and changes in how the service answers';
  const querystring = z.object({ kind: chosen, code: chosen, before });
  app.get(
    '/issues',
    { config, schema: { ...pageSchema(summary), querystring } },
    async ({ query }, reply) => {
      const read = await listOpenIssues(session, { ...query, limit: LIMIT });
      const facts = {
        ...{ kinds: names, query, page: listPage(read, ({ id }) => id) },
        counts: await countIssues(session),
        drift: await readDrift(session, DRIFT_SHOWN),
      };
      return sendPage(reply, { title: 'Issues', part: '/issues', content: issuesPage(facts) });
    },
  );
}

function webhooksRoute(app: Server, { session, clock, access }: Dashboard): void {
  const querystring = z.object({ endpoint: chosen, before, done });
  const schema = { ...pageSchema('Show endpoints and their deliveries'), querystring };
  app.get('/webhooks', { config, schema }, async ({ query: { done: carriedOut, ...query } }, reply) => {
    const read = await listDeliveries(session, { ...query, limit: LIMIT });
    const content = webhooksPage({
      ...{ query, now: clock.now(), page: listPage(read, ({ id }) => id), mayDecide: access.hasToken },
      endpoints: await listEndpoints(session),
    });
    const after = await latestSeq(session);
    return sendPage(reply, { title: 'Webhooks', part: '/webhooks', content, after, done: carriedOut });
  });
}

function storageRoute(app: Server, { session, clock }: Dashboard): void {
  app.get(
    '/storage',
    { config, schema: pageSchema('Show how large the mirror is') },
    async (_request, reply) => {
      const content = storagePage({
        database: session.location,
        version: await databaseVersion(session),
        bytes: await databaseSize(session),
        changeLog: await readChangeLogSize(session, clock.now()),
        tables: await tableSizes(session),
      });
      return sendPage(reply, { title: 'Storage', part: '/storage', content });
    },
  );
}
