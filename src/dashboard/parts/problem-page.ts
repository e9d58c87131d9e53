import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { html, type Html } from '../../http/html.ts';
import type { Problem } from '../../http/send.ts';
import { translatorFor, type MessageKey } from '../../lib/text/translator.ts';
import { markEnglish } from './layout.ts';
import { back, sendPage } from './page.ts';

/**
 * Sends the reason of a refusal as a page; in French, a sentence by status stands before a reason in English.
 *
 * @param form What a person can correct at once; without it, a link leads back to the page of the form.
 */
export function sendProblemPage(
  reply: FastifyReply,
  problem: Problem,
  form: Html | null = null,
): FastifyReply {
  const { status, detail, hint, headers, faults } = problem;
  const translator = translatorFor(reply.request.language);
  const { t, term, language } = translator;
  const title = t(status === 404 ? 'Not found' : 'Not done');
  const summary = language === 'en' || term(detail) !== detail ? null : t(WHY[status] ?? 'Invalid request.');
  const reasons = faults?.map(([field, message]) => {
    const name = html`${markEnglish(translator, LABELS[field] ?? field)}`;
    return html`${field && t('{name}:', { name })} <span lang="en">${message}.</span> `;
  });
  const formPage = form === null ? pageBehind(reply.request) : '/';
  return sendPage(reply.code(status).headers({ ...headers }), {
    title,
    content: html`<div class="title"><h1>${title}</h1></div>
      <section class="panel">
        <div class="body">
          <p role="alert">${summary} ${reasons ?? markEnglish(translator, detail)}</p>
          ${hint === undefined ? null : html`<p class="quiet">${markEnglish(translator, hint)}</p>`}
          ${formPage === '/' ? null : html`<p><a href="${formPage}">${t('Back')}</a></p>`}
          <p><a href="/">${t('To the overview')}</a></p>
        </div>
      </section>
      ${form}`,
  });
}

/** The labels of fields that have other labels than their names. */
const LABELS: Readonly<Record<string, MessageKey>> = {
  url: 'address',
  recordId: 'another record',
  ids: 'Numbers of records',
  pages: 'Pages of the list',
};

/** The page of a form: the one that the form names, else the nearest page at or above the address. */
function pageBehind({ method, url, body, routeOptions, server }: FastifyRequest): string {
  const named = z.object({ back }).safeParse(body).data?.back ?? '/';
  const [path = '', filters] = url.split('?');
  const route = routeOptions.url?.split('/') ?? [];
  if (method === 'GET' && filters === undefined) route.pop();
  while (route.length > 1 && !server.hasRoute({ method: 'GET', url: route.join('/') })) route.pop();
  return named === '/' ? path.split('/').slice(0, route.length).join('/') || '/' : named;
}

const WHY: Readonly<Record<number, MessageKey>> = {
  403: 'You do not have this right.',
  404: 'Nothing was found here.',
  409: 'The current state does not allow this.',
  503: 'The mirror does not answer.',
};
