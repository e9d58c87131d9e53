import type { FastifyReply } from 'fastify';
import type { Problem } from '../answer/problem.ts';
import { html, sendPage } from './html.ts';

/** Sends the form that asks for the token, with the reason if the caller was refused. */
export function sendSignIn(reply: FastifyReply, refusal: Problem | null = null): FastifyReply {
  if (refusal !== null) void reply.code(refusal.status).headers({ ...refusal.headers });
  const fault =
    refusal === null ? null : html`<p class="fault" role="alert">${refusal.detail} ${refusal.hint ?? ''}</p>`;
  return sendPage(
    reply,
    'Sign in · bms-sync',
    html`<h1>bms-sync</h1>
      ${fault}
      <form method="post" action="/login">
        <label for="token">Admin token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required autofocus />
        <button>Sign in</button>
      </form>`,
  );
}
