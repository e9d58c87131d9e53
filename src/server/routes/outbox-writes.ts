import * as z from 'zod';
import { abandonEntry, adoptRecord, retryEntry } from '../../outbound/decisions/decide.ts';
import type { DecidedEntry } from '../../outbound/decisions/decide.ts';
import { entryDocument } from '../../outbound/decisions/entry-list.ts';
import { resumeSends } from '../../outbound/freeze.ts';
import { storeEntries } from '../../outbound/intake/intake.ts';
import { sendJson } from '../answer/send.ts';
import { jsonObject, noBody, recordIdOrNumber, rowId } from '../fields.ts';
import type { RouteContext, Server } from '../server.ts';
import { entry, operation, state } from './outbox.ts';

const schema = { tags: ['Outbox'] };

/** Puts entries into the outbox, and carries out a person's decisions on those that are stuck. */
export function outboxWriteRoutes(app: Server, context: RouteContext): void {
  intakeRoute(app, context);
  decisionRoutes(app, context);
  adoptRoute(app, context);
  resumeRoute(app, context);
}

const change = z.strictObject({
  operation,
  kind: z.string().max(100),
  id: recordIdOrNumber.nullish().describe('of the record to update'),
  data: jsonObject.describe('the fields to write'),
  base: jsonObject.nullish().describe('the record as seen before the update'),
  allowUnknown: z.boolean().optional().describe('true: fields that nobody knows are sent, too'),
  allowDouble: z.boolean().optional().describe('true: made although a record has its natural key'),
});

const headers = z.looseObject({
  'idempotency-key': z
    .string('expected the caller’s own name for this change: the same key is stored once')
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/, 'expected 1 to 200 characters of ASCII'),
});

/** An entry just stored, or stored before under the same key. */
const stored = z.object({
  id: z.int(),
  state,
  key: z.string(),
  kind: z.string(),
  operation,
  recordId: z.string().nullable(),
  isNew: z.boolean(),
  notes: z.array(z.string()),
});

function intakeRoute(app: Server, { session, kinds, clock, wakeEngine }: RouteContext): void {
  app.post(
    '/v1/outbox',
    {
      schema: {
        summary: 'Put a create or an update into the outbox',
        description:
          'The same key and body again: 200 and the entry as it is by now. Another body: 409. A create whose natural key something has: 422.',
        ...{ ...schema, headers, body: change, response: { 202: stored, 200: stored } },
      },
    },
    async (request, reply) => {
      const asked = { ...request.body, key: request.headers['idempotency-key'] };
      const [result] = await storeEntries(session, { kinds, requests: [asked], now: clock.now() });
      if (result === undefined) throw new Error('An entry was neither stored nor refused.');
      if (result.isNew) wakeEngine();
      const { id, state, key, kind, operation, recordId, isNew, notes } = result;
      request.entryId = id;
      void reply.code(isNew ? 202 : 200).header('location', `/v1/outbox/${id}`);
      return sendJson(reply, { id, state, key, kind, operation, recordId, isNew, notes });
    },
  );
}

/** An entry after a person's decision. */
const decided = entry.extend({ warning: z.string().nullable() });

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

const documentOf = ({ entry, warning }: DecidedEntry) => ({ ...entryDocument(entry), warning });

function decisionRoutes(app: Server, { session, clock, wakeEngine }: RouteContext): void {
  for (const [name, { work, summary }] of Object.entries(CARRY_OUT))
    app.post(
      `/v1/outbox/:id/${name}`,
      {
        schema: {
          ...{ ...schema, operationId: `${name}Entry`, summary },
          ...{ params: rowId, body: noBody, response: { 200: decided } },
        },
      },
      async (request, reply) => {
        const made = await work(session, request.params.id, clock.now());
        request.entryId = request.params.id;
        wakeEngine();
        return sendJson(reply, documentOf(made));
      },
    );
}

function adoptRoute(app: Server, { session, kinds, clock, wakeEngine }: RouteContext): void {
  const summary = 'Say which record of the mirror a create has made';
  app.post(
    '/v1/outbox/:id/adopt',
    {
      schema: {
        ...{ ...schema, operationId: 'adoptRecord', summary },
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
      wakeEngine();
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
      wakeEngine();
      return sendJson(reply, { wasFrozen: was !== null, ...was });
    },
  );
}
