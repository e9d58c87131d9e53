import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { nestedTables } from '../store/tables/kind-table.ts';
import { PACKAGE_FOLDER } from '../lib/package-folder.ts';
import type { RouteContext, Server } from '../http/server.ts';
import { trailName } from '../operations/operation.ts';
import { addChangesPage } from './changes-page.ts';
import { addDecisionsPage } from './decisions-page.ts';
import { addDeletionsPage } from './deletions-page.ts';
import { addEntryPage } from './entry-page.ts';
import { addFindPage } from './find-page.ts';
import { addIssuesPage } from './issues-page.ts';
import { addKindPage, addKindsPage } from './kind-page.ts';
import { addOutboxPage } from './outbox-page.ts';
import { addOverviewPage } from './overview-page.ts';
import { createCounts } from './parts/counts.ts';
import { createReaders } from './parts/reader.ts';
import { addForm, type AddPage, type Dashboard } from './parts/page.ts';
import { addRecordPage } from './record-page.ts';
import { addRecordsPage } from './records-page.ts';
import { addRunPage, addRunsPage } from './runs-page.ts';
import { addUsersPage } from './users-page.ts';
import { addWebhooksPage } from './webhooks-page.ts';

const PAGES: readonly AddPage[] = [
  addOverviewPage,
  addKindsPage,
  addKindPage,
  addChangesPage,
  addFindPage,
  addRecordPage,
  addRecordsPage,
  addRunsPage,
  addRunPage,
  addOutboxPage,
  addEntryPage,
  addDeletionsPage,
  addIssuesPage,
  addWebhooksPage,
  addDecisionsPage,
  addUsersPage,
];

export function dashboardRoutes(
  app: Server,
  context: RouteContext,
  { pages, ...shown }: Pick<Dashboard, 'operations' | 'fileLinks'> & { readonly pages: readonly AddPage[] },
): void {
  const shapes = context.kinds.flatMap((kind) => [
    kind,
    ...nestedTables(kind).map(({ name, items: fields, hints }) => ({ name, fields, hints })),
  ]);
  const readers = createReaders(context.timezone, context.clock, shapes);
  const readerOf: Dashboard['readerOf'] = (request) => readers(request.language);
  const parts = { readerOf, counts: createCounts(context), describers: new Map() };
  const dashboard: Dashboard = { ...context, ...parts, ...shown };
  for (const { name, path, type } of ASSETS) {
    let content: Buffer | null = null;
    const described = { description: 'The file', content: { [type]: { schema: z.string() } } };
    app.get(
      `/assets/${name}`,
      { schema: { summary: `Give the pages their ${name}`, response: { 200: described } } },
      (_request, reply) => reply.type(type).send((content ??= readFileSync(path))),
    );
  }
  for (const addPages of [...PAGES, ...pages]) addPages(app, dashboard);
  addForms(app, dashboard);
}

const ASSET_FOLDER = join(PACKAGE_FOLDER, 'src/dashboard/assets');
const UPLOT = dirname(createRequire(import.meta.url).resolve('uplot'));

const ASSETS = [
  { name: 'dashboard.css', path: join(ASSET_FOLDER, 'dashboard.css'), type: 'text/css; charset=utf-8' },
  { name: 'dashboard.js', path: join(ASSET_FOLDER, 'dashboard.js'), type: 'text/javascript; charset=utf-8' },
  { name: 'icon.svg', path: join(ASSET_FOLDER, 'icon.svg'), type: 'image/svg+xml' },
  { name: 'uplot.css', path: join(UPLOT, 'uPlot.min.css'), type: 'text/css; charset=utf-8' },
  { name: 'uplot.js', path: join(UPLOT, 'uPlot.iife.min.js'), type: 'text/javascript; charset=utf-8' },
];

function addForms(app: Server, context: Dashboard): void {
  const response = { 303: z.null().describe('The way back to the page') };
  for (const operation of context.operations.filter((operation) => operation.notice !== undefined))
    addForm(app, { context, operation }, response, ({ params }, document, reply) => {
      const { back = '/' } = params as { readonly back?: string };
      const page = operation.resultPage?.(document) ?? back;
      const { events } = document;
      const done = trailName(operation) + (typeof events === 'number' ? ` ${events}` : '');
      return reply.redirect(`${page}?done=${encodeURIComponent(done)}`, 303);
    });
}
