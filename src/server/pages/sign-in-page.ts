import type { FastifyReply } from 'fastify';
import type { Problem } from '../answer/problem.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { SIGN_IN_STYLE } from './sign-in-style.ts';

const STYLE_ELEMENT: Html = { html: `<style>${SIGN_IN_STYLE}</style>` };

interface SignIn {
  /** Why the caller was refused. */
  readonly refusal?: Problem;
  /** The address to go to afterwards. */
  readonly next?: string;
}

/** Sends the form that asks for the token. */
export function sendSignIn(reply: FastifyReply, { refusal, next }: SignIn = {}): FastifyReply {
  if (refusal !== undefined) void reply.code(refusal.status).headers({ ...refusal.headers });
  const fault =
    refusal === undefined
      ? null
      : html`<p class="fault" role="alert">${refusal.detail} ${refusal.hint ?? ''}</p>`;
  const goOn = next === undefined ? null : html`<input type="hidden" name="next" value="${next}" />`;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Sign in · bms-sync</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <h1>bms-sync</h1>
          ${fault}
          <form method="post" action="/login">
            ${goOn}
            <label for="token">Admin token</label>
            <input
              id="token"
              name="token"
              type="password"
              autocomplete="current-password"
              required
              autofocus
            />
            <button>Sign in</button>
          </form>
          <p class="quiet">
            The value of the setting <code>ADMIN_TOKEN</code> of <code>bms-sync serve</code>.
          </p>
        </main>
      </body>
    </html> `;
  return reply.type('text/html; charset=utf-8').send(page.html);
}
