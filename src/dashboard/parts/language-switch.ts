import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { html, type Html } from '../../http/html.ts';
import { setLanguageCookie } from '../../http/language.ts';
import { SIGN_IN_BYTES } from '../../http/limits.ts';
import type { Server } from '../../http/server.ts';
import { LANGUAGES } from '../../lib/text/translator.ts';

/** Only our own paths: another site may have filled in the form. */
export const OWN_PATH = /^\/(?![/\\])[\w\-./?=&%:~+]*$/;

const schema = {
  summary: 'Choose the language of the pages',
  security: [],
  body: z.strictObject({
    language: z.enum(LANGUAGES),
    back: z.string().max(1000).default('/').describe('the page to return to'),
  }),
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  response: { 303: z.null().describe('The cookie, and the way back to the page') },
};

/** Adds the route of the switch, which needs no authentication. */
export function languageRoute(app: Server): void {
  const options = { config: { open: true } as const, bodyLimit: SIGN_IN_BYTES, schema };
  app.post('/language', options, ({ body: { language, back } }, reply) => {
    setLanguageCookie(reply, language);
    return reply.redirect(OWN_PATH.test(back) ? back : '/', 303);
  });
}

const NAMES = { en: 'English', fr: 'Français' };

/** A button for each other language; it leads back to the same page. The answer to a form, which may show a secret once, has none. */
export function languageSwitch(request: FastifyRequest): Html | null {
  if (request.method !== 'GET') return null;
  const others = LANGUAGES.filter((language) => language !== request.language);
  const buttons = others.map(
    (language) =>
      html`<button name="language" value="${language}" lang="${language}">${NAMES[language]}</button>`,
  );
  return html`<form class="language" method="post" action="/language">
    <input type="hidden" name="back" value="${request.url}" />${buttons}
  </form>`;
}
