import type { FastifyReply } from 'fastify';
import type { Problem } from '../answer/problem.ts';
import { html } from './parts/html.ts';
import { sendPage } from './parts/layout.ts';

/** Sends the reason of a refusal as a page. */
export function sendProblemPage(
  reply: FastifyReply,
  { status, detail, hint, headers }: Problem,
): FastifyReply {
  void reply.code(status).headers({ ...headers });
  return sendPage(reply, {
    ...{ title: 'Not done', part: '' },
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
