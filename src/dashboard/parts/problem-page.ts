import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { html } from '../../http/html.ts';
import type { Problem } from '../../http/send.ts';
import { translatorFor, type MessageKey } from '../../lib/text/translator.ts';
import { markEnglish } from './english.ts';
import { back, sendPage } from './page.ts';

/** Sends the reason of a refusal as a page, with the form as it was sent; without one, a link leads back to the page of the form. */
export function sendProblemPage(reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, detail, hint, headers, faults } = problem;
  const translator = translatorFor(reply.request.language);
  const { t } = translator;
  const title = t(status === 404 ? 'Not found' : 'Not done');
  const reasons = faults?.map(([field, message]) => {
    const name = html`${markEnglish(translator, LABELS[field] ?? field)}`;
    return html`${field && t('{name}:', { name })} ${markEnglish(translator, message)}. `;
  });
  const { formOf } = reply.request.routeOptions.config;
  const typed = z.record(z.string(), z.string()).catch({}).parse(reply.request.body);
  const form = status === 403 ? null : (formOf?.(translator, typed) ?? null);
  const formPage = form === null ? pageBehind(reply.request) : '/';
  return sendPage(reply.code(status).headers({ ...headers }), {
    title,
    content: html`<section class="panel">
        <div class="body">
          <p role="alert">${reasons ?? markEnglish(translator, detail)}</p>
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
  const route = (routeOptions.url ?? path).split('/');
  if (method === 'GET' && filters === undefined) route.pop();
  while (route.length > 1 && !server.hasRoute({ method: 'GET', url: route.join('/') })) route.pop();
  return named === '/' ? path.split('/').slice(0, route.length).join('/') || '/' : named;
}
