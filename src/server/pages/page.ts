import type { FastifyReply } from 'fastify';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { STYLE } from './style.ts';

const STYLE_ELEMENT: Html = { html: `<style>${STYLE}</style>` };

/** Sends a whole page. */
export function sendPage(reply: FastifyReply, title: string, content: Html): FastifyReply {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html> `;
  return reply.type('text/html; charset=utf-8').send(page.html);
}
