import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { Counts } from './counts.ts';
import { isRoleAllowed, type UserRole } from '../../store/users/user-store.ts';
import { latestSeq } from '../../store/records/change-store.ts';
import { wholeNumber } from '../../operations/inputs.ts';
import { inputOf, runOperation, type AnyOperation } from '../../operations/operation.ts';
import { pageAnswer } from '../../http/openapi.ts';
import { translatorFor, type Translator, type MessageKey } from '../../lib/text/translator.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { deciderOf, type RequestUser } from '../../http/access.ts';
import type { RouteContext, Server } from '../../http/server.ts';
import { sendHtml } from '../../http/language.ts';
import { noticeFor } from './decisions.ts';
import { languageSwitch } from './language-switch.ts';
import type { Query } from './paging.ts';
import type { Reader } from './reader.ts';
import { html, type Html, type Part } from '../../http/html.ts';

export interface Dashboard extends RouteContext {
  readonly counts: Counts;
  readonly operations: readonly AnyOperation[];
  readonly fileLinks: readonly FileLinks[];
  readonly readerOf: (request: FastifyRequest) => Reader;
  /** By the part of the dashboard that has a page for each of something. */
  readonly describers: Map<string, DescribeTarget>;
}

/** Links to what a decision was about, and says what was decided; null if it is gone. */
type DescribeTarget = (
  dashboard: Dashboard,
  id: number,
  reader: Reader,
  decision: string,
) => Promise<{ readonly about: Part; readonly details?: Part } | null>;

/** Adds the routes of one page, or of several. */
export type AddPage = (app: Server, dashboard: Dashboard) => void;

/** Links to a kind or a view as a file, with the filters of the page. */
export type FileLinks = (reader: Reader, name: string, filters?: Query) => Html;

/** A panel of files to download. @param views The views of the mirror. */
export type FilePanel = (views: readonly string[], reader: Reader) => Html;

interface PageRoute<Params extends z.ZodType, Query extends z.ZodObject> {
  readonly path: string;
  readonly summary: string;
  /** Who may see it; without one, a viewer. */
  readonly role?: UserRole;
  readonly params?: Params;
  readonly querystring?: Query;
  /** For the page of decisions. */
  readonly describe?: DescribeTarget;
}

/** The user of a page, and the parts of its address. */
export interface PageRequest<Params, Query> {
  readonly user: RequestUser | null;
  readonly reader: Reader;
  readonly params: Params;
  readonly query: Query;
}

/** Makes the route of a page: without authentication it shows the sign-in form, and its errors are pages. */
export function pageAt<Params extends z.ZodType, Query extends z.ZodObject>(
  routeOf: PageRoute<Params, Query> | ((dashboard: Dashboard) => PageRoute<Params, Query>),
  show: (dashboard: Dashboard, request: PageRequest<z.output<Params>, z.output<Query>>) => Promise<Page>,
): AddPage {
  return (app, dashboard) => {
    const route = typeof routeOf === 'function' ? routeOf(dashboard) : routeOf;
    const { path, role = 'viewer', querystring: filters, describe, ...described } = route;
    const [, part = ''] = path.split('/');
    if (describe !== undefined) dashboard.describers.set(part, describe);
    const querystring = z.strictObject({ ...filters?.shape, done });
    const schema = { response: { 200: pageAnswer('The page') }, querystring, ...described };
    const options = { config: { signsIn: true, role } as const, schema };
    app.get(path, options, async (request, reply) => {
      const after = await latestSeq(dashboard.session); // Before all else is read, so that later events update the page.
      const { user } = request;
      const query = request.query as z.output<Query> & { readonly done?: string };
      const params = request.params as z.output<Params>;
      const page = await show(dashboard, { user, reader: dashboard.readerOf(request), params, query });
      const { operations } = dashboard;
      return sendPage(reply, { part: `/${part}`, ...page, done: query.done, operations }, after);
    });
  };
}

export const back = z
  .string()
  .max(200)
  .regex(/^\/(?:[\w-]+(?:\/[\w-]+)*)?$/, 'expected the path of a page')
  .default('/')
  .describe('the page to return to');

type FormRequest = PageRequest<JsonObject, object>;
type Answer = (request: FormRequest, document: JsonObject, reply: FastifyReply) => unknown;
type FormOperation = AnyOperation & Pick<FastifyContextConfig, 'formOf'>;

/** Adds the form of an operation, with the body of its command and the page to return to as `params` of the answer. */
export function addForm(
  app: Server,
  { context, operation }: { readonly context: Dashboard; readonly operation: FormOperation },
  response: object,
  answer: Answer,
): void {
  const { role, formOf } = operation;
  const schema = {
    summary: `${operation.name} by a form`,
    ...inputOf(operation, { back }),
    consumes: ['application/json', 'application/x-www-form-urlencoded'],
    response,
  };
  const options = { config: { signsIn: true, role, ...(formOf && { formOf }) } as const, schema };
  app.post(operation.path, options, async (request, reply) => {
    const { user } = request;
    const by = deciderOf(request, 'page');
    const params: JsonObject = { ...(request.params as object), ...(request.body as object | null) };
    const document = await runOperation(operation, { ...context, signal: context.closing, by }, params);
    return answer({ user, reader: context.readerOf(request), params, query: {} }, document, reply);
  });
}

/** Adds the form of an operation whose result is seen once, as a secret is: the answer is its page with the result. */
export function addResultForm(
  app: Server,
  { context, operation }: { readonly context: Dashboard; readonly operation: FormOperation },
  show: (dashboard: Dashboard, request: FormRequest) => Promise<Page>,
  noticeOf: (request: FormRequest, document: JsonObject) => Html,
): void {
  const [, part = ''] = operation.path.split('/');
  const response = { 200: pageAnswer('The page, with the result') };
  addForm(app, { context, operation }, response, async (request, document, reply) => {
    const notice = noticeOf(request, document);
    return sendPage(reply, { part: `/${part}`, ...(await show(context, request)), notice, isStill: true });
  });
}

export const beforeId = wholeNumber(1)
  .optional()
  .describe('only rows before this one: where a page of the list begins');

const done = z.string().max(40).optional().describe('the decision that was just carried out');

interface Page {
  readonly title: string;
  /** The heading, where it is not the title. */
  readonly heading?: Part;
  /** What stands beside the heading. */
  readonly about?: Part;
  /** What a form has done. */
  readonly notice?: Html;
  /** The part of the dashboard that the page belongs to, unless its address begins with it. */
  readonly part?: string;
  readonly content: Part;
  /** Whether later events leave it as it is. */
  readonly isStill?: boolean;
  readonly hasPlots?: boolean;
  readonly done?: string | undefined;
  readonly operations?: readonly AnyOperation[];
}

/** The parts of the dashboard, each below an entry of the menu, which leads to its first part. */
const PARTS: readonly (readonly [address: string, name: MessageKey, entry: MessageKey, role?: UserRole])[] = [
  ['/', 'Overview', 'Overview'],
  ['/kinds', 'Kinds', 'Records'],
  ['/find', 'Search', 'Records'],
  ['/exports', 'Export', 'Records'],
  ['/changes', 'Changes', 'Changes'],
  ['/plans', 'Corrections', 'Work'],
  ['/outbox', 'Outbox', 'Work'],
  ['/deletions', 'Deletions', 'Work'],
  ['/issues', 'Issues', 'Work'],
  ['/runs', 'Runs', 'Administration'],
  ['/webhooks', 'Webhooks', 'Administration'],
  ['/decisions', 'Decisions', 'Administration'],
  ['/users', 'Users', 'Administration', 'admin'],
];

/** The menu, and the parts of the entry that the page belongs to, if it has several. */
function menusOf({ t }: Translator, user: RequestUser | null, part: string | undefined) {
  const allowed = PARTS.filter(
    ([, , , role]) => role === undefined || (user !== null && isRoleAllowed(user.role, role)),
  );
  const entries = [...Map.groupBy(allowed, ([, , entry]) => entry)];
  const open = entries.find(([, parts]) => parts.some(([address]) => address === part));
  const link = (address: string, name: MessageKey, isCurrent: boolean): Html =>
    html`<a href="${address}" ${isCurrent ? html`aria-current="page"` : null}>${t(name)}</a>`;
  const menu = entries.map(([name, [first]]) => link(first?.[0] ?? '/', name, name === open?.[0]));
  const links = (open?.[1] ?? []).map(([address, name]) => link(address, name, address === part));
  const submenu = html`<nav class="sub" aria-label="${t(open?.[0] ?? 'Overview')}">${links}</nav>`;
  return { menu, submenu: links.length > 1 ? submenu : null };
}

export function sendPage(reply: FastifyReply, page: Page, after?: number): FastifyReply {
  const { title, heading = title, about, part, content, isStill = false, hasPlots, done, operations } = page;
  const translator = translatorFor(reply.request.language);
  const { notice = noticeFor(translator, done, operations) } = page;
  const { t } = translator;
  const { user } = reply.request;
  const { menu, submenu } = menusOf(translator, user, part);
  const live =
    isStill || after === undefined
      ? null
      : html`data-after="${after}" data-words="${scriptTexts(translator)}"`;
  const document = html`<!doctype html>
    <html lang="${translator.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · bms-sync</title>
        <link rel="icon" href="/assets/icon.svg" />
        <link rel="stylesheet" href="/assets/dashboard.css" />
        ${hasPlots === true ? PLOTS : null}
        <script src="/assets/dashboard.js" defer></script>
      </head>
      <body ${live}>
        <a class="skip" href="#main">${t('Skip to content')}</a>
        <header class="top">
          <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="22" height="22" />bms-sync</a>
          <nav aria-label="${t('Parts of the dashboard')}">${menu}</nav>
          <form class="find" method="get" action="/find" role="search">
            <input
              type="search"
              name="q"
              aria-label="${t('Find a record')}"
              placeholder="${t('Find')}"
              required
            />
          </form>
          <p id="live" class="live" hidden></p>
          ${languageSwitch(reply.request)} ${signedInUser(reply.request, translator)}
        </header>
        ${submenu}
        <main id="main" tabindex="-1">
          <div class="title">
            <h1>${heading}</h1>
            ${about === undefined ? null : html`<p>${about}</p>`}
          </div>
          ${notice} ${content}
        </main>
        <p id="news" class="unseen" role="status"></p>
      </body>
    </html> `;
  return sendHtml(reply, document);
}

const scriptTexts = ({ t }: Translator): string =>
  JSON.stringify({
    live: t('Live'),
    away: t('No connection'),
    signedOut: t('Signed out: reload the page'),
    changeCount: t('New changes: {n}', { n: '{n}' }),
  });

/** The signed-in user, and the button to sign out; a proxy that signs users in has its own. */
function signedInUser(request: FastifyRequest, translator: Translator): Html | null {
  const { user } = request;
  if (user === null || user.by === 'loopback') return null;
  const out = html`<form method="post" action="/logout"><button>${translator.t('Sign out')}</button></form>`;
  return html`<div class="person">
    <span>${user.name} <span class="quiet">${translator.term(user.role)}</span></span>
    ${user.by === 'cookie' ? out : null}
  </div>`;
}

const PLOTS = html`<link rel="stylesheet" href="/assets/uplot.css" />
  <script src="/assets/uplot.js" defer></script>`;
