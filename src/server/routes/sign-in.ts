import { z } from 'zod';
import { sendProblem } from '../answer/problem.ts';
import { sendSignIn } from '../pages/sign-in-page.ts';
import * as limits from '../limits.ts';
import type { Context, Server } from '../server.ts';

/** Longer than any token: a form that sends more is not asked about it. */
const LONGEST_TOKEN = 4_096;

const form = z.strictObject({ token: z.string().min(1).max(LONGEST_TOKEN) });
const schema = { tags: ['Sign-in'], security: [] };

/** The form that gives a browser its cookie for the token. */
export function signInRoutes(app: Server, { access }: Context): void {
  app.get(
    '/login',
    {
      config: { open: true },
      schema: { ...schema, summary: 'Show the sign-in form', produces: ['text/html'] },
    },
    (_request, reply) => sendSignIn(reply),
  );
  app.post(
    '/login',
    {
      config: { open: true, takesForms: true, bodyMs: limits.OPEN_BODY_MS },
      bodyLimit: limits.OPEN_BODY_BYTES,
      schema: {
        ...schema,
        summary: 'Give a cookie for the token',
        body: form,
        response: { 303: z.string() },
      },
    },
    (request, reply) => {
      const signed = access.signIn(request, request.body.token);
      if ('cookie' in signed) return reply.header('set-cookie', signed.cookie).redirect('/', 303);
      const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
      return isForm ? sendSignIn(reply, signed.refusal) : sendProblem(reply, signed.refusal);
    },
  );
}
