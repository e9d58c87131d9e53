import type { FastifyReply } from 'fastify';
import * as z from 'zod';
import { NOT_SIGNED_IN } from '../http/access.ts';
import { SESSION_COOKIE } from '../http/credentials.ts';
import { SIGN_IN_STYLE } from '../http/security-headers.ts';
import { sendProblem } from '../http/send.ts';
import type { SignIn } from '../http/guard.ts';
import * as limits from '../http/limits.ts';
import { pageAnswer } from '../http/openapi.ts';
import type { RouteContext, Server } from '../http/server.ts';
import { html, type Html } from '../http/html.ts';
import { sendHtml } from '../http/language.ts';
import { translatorFor } from '../lib/text/translator.ts';
import { markEnglish } from './parts/english.ts';
import { formOf } from './parts/forms.ts';
import { languageSwitch, OWN_PATH } from './parts/language-switch.ts';

const form = z.strictObject({
  token: z.string().trim().min(1),
  next: z.string().max(2000).optional().describe('the page to go to; the overview without it'),
});

const querystring = z.object({ code: z.string().max(100).optional().describe('the code of a link') });

const seeStatus = z.null().describe('The cookie, and the way to the page');

const schema = { tags: ['Sign-in'], security: [] };
const codeSchema = {
  ...schema,
  summary: 'Show the sign-in form, or sign in by a code',
  querystring,
  response: { 200: pageAnswer('The form'), 303: seeStatus },
};
const tokenSchema = {
  ...schema,
  summary: 'Give a cookie for a token',
  body: form,
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  response: { 303: seeStatus },
};

const leavingSchema = {
  tags: ['Sign-in'],
  summary: 'Take the cookie back',
  response: { 303: z.null().describe('The way to the form') },
};

export function signInRoutes(app: Server, context: RouteContext): void {
  const config = { open: true } as const;
  app.get('/login', { config, schema: codeSchema }, async (request, reply) => {
    const { code } = request.query;
    if (code === undefined) return sendSignIn(reply);
    const refusal = await context.access.redeem(reply, code);
    return refusal === null ? reply.redirect('/', 303) : sendSignIn(reply, { refusal });
  });
  const options = { config, bodyLimit: limits.SIGN_IN_BYTES, schema: tokenSchema };
  app.post('/login', options, async (request, reply) => {
    const { token, next } = request.body;
    const refusal = await context.access.signIn(reply, token);
    if (refusal === null) return reply.redirect(next !== undefined && OWN_PATH.test(next) ? next : '/', 303);
    const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
    if (!isForm) return sendProblem(reply, refusal);
    return sendSignIn(reply, { refusal, ...(next !== undefined && { next }) });
  });
  const leaving = { config: { signsIn: true, role: 'viewer' } as const, schema: leavingSchema };
  app.post('/logout', leaving, async (request, reply) => {
    await context.access.signOut(request);
    return reply.clearCookie(SESSION_COOKIE, { path: '/' }).redirect('/login', 303);
  });
}

const STYLE: Html = { html: `<style>${SIGN_IN_STYLE}</style>` };

export function sendSignIn(
  reply: FastifyReply,
  { refusal, next, shouldReload, wasSent }: SignIn = {},
): FastifyReply {
  if (refusal !== undefined) void reply.code(refusal.status).headers({ ...refusal.headers });
  const translator = translatorFor(reply.request.language);
  const { t } = translator;
  const fault =
    refusal === undefined || refusal === NOT_SIGNED_IN // Nothing was tried yet.
      ? null
      : html`<p class="fault" role="alert">
          ${markEnglish(translator, refusal.detail)} ${markEnglish(translator, refusal.hint ?? '')}
        </p>`;
  const attributes = html`autocomplete="current-password" required autofocus`;
  const field = { name: 'token', label: t('Your token'), type: 'password', attributes } as const;
  const page = html`<!doctype html>
    <html lang="${translator.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${shouldReload === true ? html`<meta http-equiv="refresh" content="0" />` : null}
        <title>${t('Sign in')} · bms-sync</title>
        ${STYLE}
      </head>
      <body>
        <main>
          <h1>bms-sync</h1>
          ${fault}
          ${wasSent === true ? html`<p class="fault" role="alert">${t('Your session had ended. Nothing was stored: sign in, then send the form again.')}</p>` : null}
          ${formOf({ action: '/login', values: next === undefined ? {} : { next }, fields: [field], button: t('Sign in') })}
          <p class="quiet">
            ${t(
              'Ask an admin for a token ({command}). The first admin uses the value of the setting {setting}.',
              {
                command: html`<code>bms-sync users add</code>`,
                setting: html`<code>ADMIN_TOKEN</code>`,
              },
            )}
          </p>
          ${languageSwitch(reply.request)}
        </main>
      </body>
    </html> `;
  return sendHtml(reply, page);
}
