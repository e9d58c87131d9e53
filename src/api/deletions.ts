import * as z from 'zod';
import { readDisappearances } from '../store/records/deletion-store.ts';
import { sendJsonText } from '../http/send.ts';
import { hold } from './status.ts';
import type { RouteContext, Server } from '../http/server.ts';

const group = hold.extend({
  ids: z.array(z.string()).describe('some of the records'),
  check: z.string().optional().describe('names exactly these records: `only` of an approval'),
  why: z.string().optional().describe('why they need a person, where it is not their number'),
});

const schema = {
  summary: 'List mass disappearances and the decisions on them',
  tags: ['Deletions'],
  response: {
    200: z.object({
      deletions: z.array(group),
      suspected: z.array(group.extend({ state: z.literal('suspected') })),
    }),
  },
};

/** Records that disappeared all at once. */
export function deletionRoutes(app: Server, { session }: RouteContext): void {
  app.get('/v1/deletions', { schema }, async (_request, reply) =>
    sendJsonText(reply, JSON.stringify(await readDisappearances(session))),
  );
}
