import type { FastifyReply } from 'fastify';
import { LANGUAGES, type Language } from '../lib/text/translator.ts';
import { isByHttps } from './credentials.ts';
import type { Html } from './html.ts';
import type { RouteContext, Server } from './server.ts';

/** Sets the language of each request: from the cookie, else the browser, else the setting. */
export function chooseLanguages(app: Server, context: RouteContext): void {
  app.decorateRequest('language', context.language);
  app.addHook('onRequest', (request, _reply, done) => {
    const { cookies, headers } = request;
    const chosen = LANGUAGES.find((language) => language === cookies[LANGUAGE_COOKIE]);
    const accepted = headers['accept-language']?.slice(0, LONGEST_HEADER) ?? '';
    request.language = chosen ?? acceptedLanguage(accepted) ?? context.language;
    done();
  });
}

const LANGUAGE_COOKIE = 'bms_language';
const YEAR_SECONDS = 31_536_000;

/** Sets the cookie that makes a browser request pages in this language, for a year. */
export function setLanguageCookie(reply: FastifyReply, language: Language): void {
  void reply.setCookie(LANGUAGE_COOKIE, language, {
    path: '/',
    maxAge: YEAR_SECONDS,
    httpOnly: true,
    sameSite: 'lax', // Also sent when a link on another site is followed.
    secure: isByHttps(reply.request),
  });
}

/** Sends a whole page in the language of its request. */
export function sendHtml(reply: FastifyReply, page: Html): FastifyReply {
  return reply
    .headers({ 'content-language': reply.request.language, vary: 'Accept-Language, Cookie' })
    .type('text/html; charset=utf-8')
    .send(page.html);
}

/** The first supported language that a browser names: they name them in the order of preference. Undefined if it names none. */
function acceptedLanguage(header: string): Language | undefined {
  const tags = header
    .toLowerCase()
    .split(',')
    .map((range) => range.trim().split(/[-;]/, 1)[0]);
  const [first] = tags.flatMap((tag) => LANGUAGES.filter((language) => language === tag));
  return first;
}

const LONGEST_HEADER = 500;
