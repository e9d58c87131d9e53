import * as z from 'zod';
import { OPERATIONS } from '../operations/all.ts';
import { carryOut, inputOf } from '../operations/operation.ts';
import type { RouteContext, Server } from '../http/server.ts';

const back = z
  .string()
  .max(200)
  .regex(/^\/(?:[\w-]+(?:\/[\w-]+)*)?$/, 'expected the path of a page')
  .default('/')
  .describe('the page to return to');

/** The forms of the dashboard: the operations of the API, for a browser without a script. */
export function operationForms(app: Server, context: RouteContext): void {
  for (const operation of OPERATIONS.filter(({ words }) => words.notice !== undefined)) {
    const schema = {
      summary: `${operation.name} by a form`,
      tags: ['Pages'],
      ...inputOf(operation, { back }),
      consumes: ['application/json', 'application/x-www-form-urlencoded'],
      response: { 303: z.null().describe('The way back to the page') },
    };
    app.post(operation.path, { config: { signsIn: true }, schema }, async (request, reply) => {
      const body = (request.body ?? {}) as { readonly back?: string };
      const given = { ...(request.params as object), ...body };
      await carryOut(operation, { ...context, via: 'the dashboard' }, given);
      const { back: page = '/' } = body;
      return reply.redirect(`${page}?done=${operation.name}`, 303);
    });
  }
}
