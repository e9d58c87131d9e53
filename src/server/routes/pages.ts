import type { FastifyReply } from 'fastify';
import { createDashboard } from '../dashboard.ts';
import type { Dashboard } from '../dashboard.ts';
import { PAGE_CONTENT } from '../openapi/problems.ts';
import { wholeNumber } from '../fields.ts';
import { readDrift } from '../../mirror/kinds/drift-store.ts';
import { countIssues } from '../../mirror/kinds/status-store.ts';
import { listOpenIssues } from '../../mirror/records/issue-store.ts';
import { issuesPage } from '../pages/issues-page.ts';
import { PAGE_ROWS, listPage } from '../pages/paging.ts';
import { html } from '../pages/html.ts';
import type { Html } from '../pages/html.ts';
import { sendPage } from '../pages/layout.ts';
import { noticeOf } from '../pages/notices.ts';
import { overviewPage } from '../pages/overview-page.ts';
import { readOverview } from '../pages/read-overview.ts';
import type { RouteContext, Server } from '../server.ts';
import { z } from 'zod';

const before = wholeNumber(1)
  .optional()
  .describe('only rows before this one: where a page of the list begins');
/** One of the values of a filter; an empty one filters nothing. */
const chosen = z
  .string()
  .max(100)
  .optional()
  .transform((value) => (value === '' ? undefined : value));

const DRIFT_SHOWN = 50;

const done = z.string().max(40).optional().describe('the decision that was just carried out');

/** The parts of a route's schema that all pages have. */
export const pageSchema = (summary: string) => ({
  ...{ summary, tags: ['Pages'] },
  response: { 200: { description: 'The page', content: PAGE_CONTENT } },
});

/** The dashboard: the mirror as pages for people. */
export function pageRoutes(app: Server, context: RouteContext): void {
  const dashboard = createDashboard(context);
  overviewRoute(app, dashboard);
  issuesRoute(app, dashboard);
}

function overviewRoute(app: Server, dashboard: Dashboard): void {
  app.get(
    '/',
    {
      config: { signsIn: true },
      schema: {
        ...pageSchema('Show what needs a person, and how every kind stands'),
        querystring: z.object({ done }),
      },
    },
    async ({ query }, reply) => {
      const overview = await readOverview(dashboard);
      const content = overviewPage(overview, dashboard.access.hasToken);
      return sendTold(reply, {
        title: 'Overview',
        part: '/',
        content,
        after: overview.latest,
        done: query.done,
      });
    },
  );
}

interface ToldPage {
  readonly title: string;
  readonly part: string;
  readonly content: Html;
  readonly after: number;
  readonly done: string | undefined;
}

/** Sends a page that says first which decision was just carried out. */
function sendTold(reply: FastifyReply, { done: carriedOut, content, ...page }: ToldPage): FastifyReply {
  return sendPage(reply, { ...page, content: html`${noticeOf(carriedOut)}${content}` });
}

function issuesRoute(app: Server, { session, kinds }: Dashboard): void {
  const names = kinds.map(({ name }) => name);
  const querystring = z.object({ kind: chosen, code: chosen, before });
  const schema = {
    ...pageSchema('Show what fits no rule, and changes in how the service answers'),
    querystring,
  };
  app.get('/issues', { config: { signsIn: true }, schema }, async ({ query }, reply) => {
    const read = await listOpenIssues(session, { ...query, limit: PAGE_ROWS + 1 });
    const facts = {
      ...{ kinds: names, query, page: listPage(read, ({ id }) => id) },
      counts: await countIssues(session),
      drift: await readDrift(session, DRIFT_SHOWN),
    };
    return sendPage(reply, { title: 'Issues', part: '/issues', content: issuesPage(facts) });
  });
}
