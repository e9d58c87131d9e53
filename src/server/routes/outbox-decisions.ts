import { z } from 'zod';
import { abandonEntry, adoptRecord, retryEntry } from '../../outbound/decisions/decide.ts';
import type { DecidedEntry } from '../../outbound/decisions/decide.ts';
import { entryDocument } from '../../outbound/decisions/entry-list.ts';
import { resumeSends } from '../../outbound/freeze.ts';
import { sendJson } from '../answer/send.ts';
import { noBody, recordIdOrNumber, rowId } from '../fields.ts';
import type { RouteContext, Server } from '../server.ts';
import { decided } from './outbox.ts';

const CARRY_OUT = {
  retry: { work: retryEntry, summary: 'Give a parked or rejected entry another try' },
  abandon: { work: abandonEntry, summary: 'Give an entry up: nothing more is sent for it' },
} as const;

const adoption = z.strictObject({ recordId: recordIdOrNumber });

const resumed = z.object({
  wasFrozen: z.boolean(),
  reason: z.string().optional(),
  since: z.string().optional(),
});

const schema = { tags: ['Outbox'] };

const documentOf = ({ entry, warning }: DecidedEntry) => ({ ...entryDocument(entry), warning });

/** A person's decisions on entries that are stuck. */
export function outboxDecisionRoutes(app: Server, context: RouteContext): void {
  const { session, clock, wakeEngine } = context;
  for (const [name, { work, summary }] of Object.entries(CARRY_OUT))
    app.post(
      `/v1/outbox/:id/${name}`,
      {
        schema: {
          ...{ ...schema, operationId: `${name}Entry`, summary, refusals: [409] },
          ...{ params: rowId, body: noBody, response: { 200: decided } },
        },
      },
      async (request, reply) => {
        const made = await work(session, request.params.id, clock.now());
        request.entryId = request.params.id;
        wakeEngine?.();
        return sendJson(reply, documentOf(made));
      },
    );
  adoptRoute(app, context);
  resumeRoute(app, context);
}

function adoptRoute(app: Server, { session, kinds, clock, wakeEngine }: RouteContext): void {
  const summary = 'Say which record of the mirror a create has made';
  app.post(
    '/v1/outbox/:id/adopt',
    {
      schema: {
        ...{ ...schema, operationId: 'adoptRecord', summary, refusals: [409, 422] },
        ...{ params: rowId, body: adoption, response: { 200: decided } },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const made = await adoptRecord(session, {
        kinds,
        id,
        recordId: request.body.recordId,
        now: clock.now(),
      });
      request.entryId = id;
      wakeEngine?.();
      return sendJson(reply, documentOf(made));
    },
  );
}

function resumeRoute(app: Server, { session, sendMark, wakeEngine }: RouteContext): void {
  const summary = 'Let sends go on after a database was restored';
  app.post(
    '/v1/outbox/resume',
    { schema: { ...schema, summary, body: noBody, response: { 200: resumed } } },
    async (_request, reply) => {
      const was = await resumeSends(session, (await sendMark.read()) ?? 0);
      wakeEngine?.();
      return sendJson(reply, { wasFrozen: was !== null, ...was });
    },
  );
}
