import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import * as z from 'zod';
import type { Counts } from './counts.ts';
import { wholeNumber } from '../../operations/inputs.ts';
import { pageAnswer } from '../../http/openapi.ts';
import type { Problem } from '../../http/send.ts';
import type { RouteContext } from '../../http/server.ts';
import { sendHtml } from '../../http/language.ts';
import { noticeOf } from './decisions.ts';
import { languageSwitch } from './language-switch.ts';
import type { Reader } from './reader.ts';
import { html } from '../../http/html.ts';
import type { Html } from '../../http/html.ts';

/** What the pages share, for as long as the server runs. */
export interface Dashboard extends RouteContext {
  readonly counts: Counts;
  readonly startedAt: Date;
  /** The reader who has asked. */
  readonly readerOf: (request: FastifyRequest) => Reader;
}

/** The options of a page's route: without authentication it shows the sign-in form, and its errors are pages. */
export const pageOptions = <Parts extends FastifySchema>(summary: string, parts: Parts) => ({
  config: { signsIn: true } as const,
  schema: { summary, tags: ['Pages'], response: { 200: pageAnswer('The page') }, ...parts },
});

/** The place in a list. */
export const before = wholeNumber(1)
  .optional()
  .describe('only rows before this one: where a page of the list begins');

/** A value of a filter; an empty one, as a form sends it, filters nothing. */
export const chosen = z
  .string()
  .max(100)
  .optional()
  .transform((value) => (value === '' ? undefined : value));

export const done = z.string().max(40).optional().describe('the decision that was just carried out');

interface Page {
  readonly title: string;
  /** The address of the part of the dashboard that the page belongs to. */
  readonly part: string;
  readonly content: Html;
  /** The latest event that the page shows: the page is updated when a later one comes. Without it, the page stands still. */
  readonly after?: number;
  readonly hasPlots?: boolean;
  readonly done?: string | undefined;
  /** What the box that finds records holds. */
  readonly searched?: string;
}

const PARTS: readonly (readonly [address: string, name: string])[] = [
  ['/', 'Overview'],
  ['/kinds', 'Kinds'],
  ['/changes', 'Changes'],
  ['/runs', 'Runs'],
  ['/outbox', 'Outbox'],
  ['/deletions', 'Deletions'],
  ['/issues', 'Issues'],
  ['/webhooks', 'Webhooks'],
  ['/decisions', 'Decisions'],
];

/** Sends a page of the dashboard, with the ways to its other parts. */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const { title, part, content, after, hasPlots, done, searched = '' } = page;
  const links = PARTS.map(
    ([address, name]) =>
      html`<a href="${address}" ${address === part ? html`aria-current="page"` : null}>${name}</a>`,
  );
  const live = after === undefined ? null : html`data-after="${after}"`;
  const document = html`<!doctype html>
    <html lang="${reply.request.language}">
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
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="22" height="22" />bms-sync</a>
          <nav aria-label="Parts of the dashboard">${links}</nav>
          <form class="find" method="get" action="/find" role="search">
            <input
              type="search"
              name="q"
              value="${searched}"
              aria-label="Find a record"
              placeholder="Find"
              required
            />
          </form>
          <p id="live" class="live" hidden></p>
          ${languageSwitch(reply.request)} ${personIn(reply.request)}
        </header>
        <main id="main" tabindex="-1">${noticeOf(done)}${content}</main>
        <p id="news" class="unseen" role="status"></p>
      </body>
    </html> `;
  return sendHtml(reply, document);
}

/** Who is signed in, and the way out; a proxy that has signed somebody in has its own. */
function personIn({ caller }: FastifyRequest): Html | null {
  if (caller === null || caller.by === 'loopback') return null;
  const out = html`<form method="post" action="/logout"><button>Sign out</button></form>`;
  return html`<div class="person">
    <span>${caller.name} <span class="quiet">${caller.role}</span></span>
    ${caller.by === 'cookie' ? out : null}
  </div>`;
}

const PLOTS = html`<link rel="stylesheet" href="/assets/uplot.css" />
  <script src="/assets/uplot.js" defer></script>`;

/** Sends the reason of a refusal as a page. */
export function sendProblemPage(reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, detail, hint, headers } = problem;
  void reply.code(status).headers({ ...headers });
  return sendPage(reply, {
    title: 'Not done',
    part: '',
    content: html`<div class="title"><h1>${status === 404 ? 'Not here' : 'Not done'}</h1></div>
      <section class="panel">
        <div class="body">
          <p role="alert">${detail}</p>
          ${hint === undefined ? null : html`<p class="quiet">${hint}</p>`}
          <p><a href="/">To the overview</a></p>
        </div>
      </section>`,
  });
}
