import type { FastifyReply } from 'fastify';
import type { Problem } from '../answer/problem.ts';
import { html } from './parts/html.ts';
import type { Html } from './parts/html.ts';
import { SIGN_IN_STYLE } from './parts/sign-in-style.ts';

const STYLE_ELEMENT: Html = { html: `<style>${SIGN_IN_STYLE}</style>` };

interface SignIn {
  /** Why the caller was refused. */
  readonly refusal?: Problem;
  /** The address to go to afterwards. */
  readonly next?: string;
  /** Asks for the page once more: the browser keeps a strict cookie back where a link of another site was followed. */
  readonly asksAgain?: boolean;
}

/** Sends the form that asks for the token. */
export function sendSignIn(reply: FastifyReply, signIn: SignIn = {}): FastifyReply {
  const { refusal } = signIn;
  if (refusal !== undefined) void reply.code(refusal.status).headers({ ...refusal.headers });
  return reply.type('text/html; charset=utf-8').send(formPage(signIn).html);
}

function formPage({ refusal, next, asksAgain }: SignIn): Html {
  const fault =
    refusal === undefined
      ? null
      : html`<p class="fault" role="alert">${refusal.detail} ${refusal.hint ?? ''}</p>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${asksAgain === true ? html`<meta http-equiv="refresh" content="0" />` : null}
        <title>Sign in · bms-sync</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <h1>bms-sync</h1>
          ${fault}
          <form method="post" action="/login">
            ${next === undefined ? null : html`<input type="hidden" name="next" value="${next}" />`}
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
}
