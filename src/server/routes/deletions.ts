import * as z from 'zod';
import { decideHeld, readDisappearances } from '../../mirror/records/deletion-store.ts';
import { sendJson, sendJsonText } from '../answer/send.ts';
import { instant, kindName, noBody, requireKind } from '../fields.ts';
import type { RouteContext, Server } from '../server.ts';

const hold = z.object({
  kind: z.string(),
  state: z.enum(['held', 'approved', 'released', 'rejected']),
  records: z.int(),
  since: instant,
  ids: z.array(z.string()).describe('some of the records'),
});

const suspected = hold.extend({ state: z.literal('suspected') });

const decided = z.object({ kind: z.string(), decision: z.enum(['approved', 'rejected']), records: z.int() });

const DECISIONS = {
  approve: {
    decision: 'approved',
    summary: 'Let them be deleted, once the service proves that they are gone',
  },
  reject: { decision: 'rejected', summary: 'Keep them live, however long the list leaves them out' },
} as const;

const schema = { tags: ['Deletions'] };

/** Records that disappeared all at once. */
export function deletionRoutes(app: Server, { session, kinds, wakeEngine }: RouteContext): void {
  const params = z.strictObject({ kind: kindName(kinds) });
  app.get(
    '/v1/deletions',
    {
      schema: {
        ...{ ...schema, summary: 'List mass disappearances and the decisions on them' },
        response: { 200: z.object({ deletions: z.array(hold), suspected: z.array(suspected) }) },
      },
    },
    async (_request, reply) => sendJsonText(reply, JSON.stringify(await readDisappearances(session))),
  );
  for (const [name, { decision, summary }] of Object.entries(DECISIONS))
    app.post(
      `/v1/deletions/:kind/${name}`,
      { schema: { ...schema, summary, params, body: noBody, response: { 200: decided } } },
      async (request, reply) => {
        const { name: kind } = requireKind(kinds, request.params.kind);
        const made = await decideHeld(session, kind, decision);
        wakeEngine();
        return sendJson(reply, { ...made });
      },
    );
}
