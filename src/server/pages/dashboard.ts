import { z } from 'zod';
import { latestSeq, findChange, latestChanges } from '../../feed/read-changes.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { recordsAfter } from '../../mirror/records/record-store.ts';
import { readRecordStory } from '../../mirror/records/record-story.ts';
import { latestReadings } from '../../mirror/runs/run-store.ts';
import type { Dashboard } from './parts/page.ts';
import { kindName, recordId, rowId, checkKind, requireKind } from '../fields.ts';
import { changePage, changesPage } from './changes-page.ts';
import { kindPage } from './kind-page.ts';
import { sendPage, before, chosen, config, done, pageSchema, createDashboard } from './parts/page.ts';
import { overviewPage } from './overview-page.ts';
import { PAGE_ROWS, listPage } from './parts/paging.ts';
import { readKindLines, readOverview } from './parts/read-overview.ts';
import { recordPage } from './record-page.ts';
import { recordsPage } from './records-page.ts';
import type { RouteContext, Server } from '../server.ts';
import { workPageRoutes } from '../routes/work-pages.ts';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHANGES_SHOWN = 20;
const READINGS_SHOWN = 200;

/** The dashboard: the mirror as pages for people. */
export function pageRoutes(app: Server, context: RouteContext): void {
  const dashboard = createDashboard(context);
  app.addHook('onListen', () => void prepare(dashboard));
  overviewRoute(app, dashboard);
  kindRoute(app, dashboard);
  changesRoutes(app, dashboard);
  recordRoutes(app, dashboard);
  workPageRoutes(app, dashboard);
}

/** Counts what the first page would have to wait for. */
async function prepare(dashboard: Dashboard): Promise<void> {
  try {
    await readKindLines(dashboard, dashboard.clock.now());
  } catch (error) {
    dashboard.logger.debug({ err: error }, 'the pages are not prepared; the first one tells why');
  }
}

function overviewRoute(app: Server, dashboard: Dashboard): void {
  const summary = 'Show what needs a person, and how every kind stands';
  const schema = { ...pageSchema(summary), querystring: z.object({ done }) };
  app.get('/', { config, schema }, async ({ query }, reply) => {
    const overview = await readOverview(dashboard);
    const content = overviewPage(overview, dashboard.access.hasToken);
    return sendPage(reply, {
      title: 'Overview',
      part: '/',
      content,
      after: overview.latest,
      done: query.done,
    });
  });
}

function kindRoute(app: Server, dashboard: Dashboard): void {
  const { session, kinds, clock, access } = dashboard;
  const params = z.strictObject({ kind: kindName(kinds) });
  const schema = { ...pageSchema('Show one record kind'), params, querystring: z.object({ done }) };
  app.get('/kinds/:kind', { config, schema }, async ({ params: { kind: name }, query }, reply) => {
    const { name: kind } = requireKind(kinds, name);
    const now = clock.now();
    const line = (await readKindLines(dashboard, now)).find((one) => one.kind === kind);
    if (line === undefined)
      throw new SyncError(`${kind} has no list: its records are read one by one.`, {
        code: 'record.unknown_kind',
        hint: `/records/${kind} shows those that were read.`,
      });
    const after = await latestSeq(session);
    const facts = {
      ...{ line, now, mayDecide: access.hasToken },
      changes: await latestChanges(session, { kind, limit: CHANGES_SHOWN }),
      readings: await latestReadings(session, kind, READINGS_SHOWN),
    };
    const page = { title: kind, part: '/', content: kindPage(facts), after, hasPlots: true };
    return sendPage(reply, { ...page, done: query.done });
  });
}

function changesRoutes(app: Server, { session, kinds, clock }: Dashboard): void {
  const names = kinds.map(({ name }) => name);
  const querystring = z.object({ kind: chosen, record: chosen, before });
  const schema = { ...pageSchema('Show change events'), querystring, refusals: [422] };
  app.get('/changes', { config, schema }, async ({ query }, reply) => {
    const { kind, record } = query;
    checkKind(kinds, kind);
    const after = await latestSeq(session);
    const read = await latestChanges(session, { ...query, recordId: record, limit: PAGE_ROWS + 1 });
    const content = changesPage({
      ...{ kinds: names, query, now: clock.now() },
      page: listPage(read, ({ seq }) => seq),
    });
    return sendPage(reply, { title: 'Changes', part: '/changes', content, after });
  });
  app.get(
    '/changes/:id',
    { config, schema: { ...pageSchema('Show one change event'), params: rowId } },
    async ({ params }, reply) => {
      const change = await findChange(session, params.id);
      if (change === null) throw absent(`There is no event ${params.id}, or it was removed.`);
      return sendPage(reply, { title: `Event ${params.id}`, part: '/changes', content: changePage(change) });
    },
  );
}

const absent = (message: string): SyncError => new SyncError(message, { code: 'record.absent' });

function recordRoutes(app: Server, { session, kinds, clock }: Dashboard): void {
  const params = z.strictObject({ kind: kindName(kinds), id: recordId });
  const schema = { ...pageSchema('Show everything that is known of one record'), params };
  app.get('/records/:kind/:id', { config, schema }, async ({ params: { kind: name, id } }, reply) => {
    const kind = requireKind(kinds, name);
    const after = await latestSeq(session);
    const story = await readRecordStory(session, kind, id);
    if (story === null) throw absent(`The mirror has no trace of record ${id} of ${kind.name}.`);
    const changes = await latestChanges(session, { kind: kind.name, recordId: id, limit: CHANGES_SHOWN });
    const content = recordPage(story, changes, clock.now());
    return sendPage(reply, { title: `${kind.name} ${id}`, part: '/', content, after });
  });
  const list = {
    ...pageSchema('Show records of a kind by their ids'),
    params: params.omit({ id: true }),
    querystring: z.object({ after: recordId.optional(), id: recordId.optional() }),
  };
  app.get('/records/:kind', { config, schema: list }, async ({ params: { kind: name }, query }, reply) => {
    const { name: kind } = requireKind(kinds, name);
    if (query.id !== undefined) return reply.redirect(`/records/${kind}/${query.id}`, 303);
    const records = await recordsAfter(session, kind, { after: query.after, limit: PAGE_ROWS + 1 });
    const content = recordsPage(kind, records, query.after);
    return sendPage(reply, { title: `Records of ${kind}`, part: '/', content });
  });
}

const OWN = fileURLToPath(new URL('../assets/', import.meta.url));
const UPLOT = dirname(createRequire(import.meta.url).resolve('uplot'));

/** The files of the pages: ours, and the library that draws the plots. */
const ASSETS = [
  { name: 'dashboard.css', path: join(OWN, 'dashboard.css'), type: 'text/css; charset=utf-8' },
  { name: 'dashboard.js', path: join(OWN, 'dashboard.js'), type: 'text/javascript; charset=utf-8' },
  { name: 'icon.svg', path: join(OWN, 'icon.svg'), type: 'image/svg+xml' },
  { name: 'uplot.css', path: join(UPLOT, 'uPlot.min.css'), type: 'text/css; charset=utf-8' },
  { name: 'uplot.js', path: join(UPLOT, 'uPlot.iife.min.js'), type: 'text/javascript; charset=utf-8' },
];

/** Serves the style sheet, the script and the picture of the pages, read from their files once. */
export function assetRoutes(app: Server): void {
  for (const { name, path, type } of ASSETS) {
    let content: Buffer | null = null;
    const described = { description: 'The file', content: { [type]: { schema: { type: 'string' } } } };
    app.get(
      `/assets/${name}`,
      { schema: { summary: `Give the pages their ${name}`, tags: ['Pages'], response: { 200: described } } },
      (_request, reply) => reply.type(type).send((content ??= readFileSync(path))),
    );
  }
}
