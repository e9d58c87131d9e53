import * as z from 'zod';
import {
  disableEndpoint,
  enableEndpoint,
  replayEvents,
  testEndpoint,
} from '../../feed/webhooks/endpoint-activity.ts';
import { dropEndpoint, rotateSecret } from '../../feed/webhooks/endpoints.ts';
import { isNumber } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import { sendJsonText } from '../answer/send.ts';
import { noBody } from '../fields.ts';
import type { RouteContext, Server } from '../server.ts';
import { endpointParams as params, revealed } from './webhooks.ts';

const tested = z.object({
  ...{ name: z.string(), webhookId: z.string(), delivered: z.boolean(), status: z.int().nullable() },
  ...{ error: z.string().nullable(), responseStart: z.string().nullable(), durationMs: z.int() },
});

const standing = z.object({ name: z.string(), state: z.enum(['active', 'disabled']) });

/** Decisions that need nothing but the name of the endpoint. */
const DECISIONS = {
  remove: {
    summary: 'Send a receiver nothing more, and forget its deliveries',
    answer: z.object({ name: z.string(), removed: z.boolean() }),
    carryOut: async ({ session }: RouteContext, name: string) => {
      await dropEndpoint(session, name);
      return { name, removed: true };
    },
  },
  rotate: {
    summary: 'Give a receiver a new secret; the present one stays valid for a day',
    answer: revealed,
    carryOut: ({ session, clock }: RouteContext, name: string) => rotateSecret(session, name, clock.now()),
  },
  enable: {
    summary: 'Go on with the deliveries of a receiver where they stopped',
    answer: standing,
    carryOut: async ({ session, clock, wakeEngine }: RouteContext, name: string) => {
      const enabled = await enableEndpoint(session, { name, now: clock.now() });
      wakeEngine();
      return enabled;
    },
  },
  disable: {
    summary: 'Send a receiver nothing until it is enabled; waiting deliveries stay',
    answer: standing,
    carryOut: ({ session, clock }: RouteContext, name: string) =>
      disableEndpoint(session, { name, now: clock.now() }),
  },
  test: {
    summary: 'Send a receiver one test event now',
    answer: tested,
    carryOut: ({ session, clock, closing: signal, webhooks }: RouteContext, name: string) =>
      testEndpoint({ session, clock, signal, allowHosts: webhooks.allowHosts }, name),
  },
} as const;

/** A person's decisions on receivers of events. */
export function webhookDecisionRoutes(app: Server, context: RouteContext): void {
  for (const [decision, { summary, answer, carryOut }] of Object.entries(DECISIONS)) {
    const schema = { summary, tags: ['Webhooks'], params, body: noBody, response: { 200: answer } };
    app.post(`/v1/webhooks/:name/${decision}`, { schema }, async (request, reply) =>
      sendJsonText(reply, JSON.stringify(await carryOut(context, request.params.name))),
    );
  }
  replayRoute(app, context);
}

const LATEST = 10 ** 15 - 1;
const SEQ = `expected the number of an event from 0 to ${LATEST}`;

/** A number of an event; 7.0 is 7. */
const seq = z
  .custom<Json>((value) => isNumber(value as Json), SEQ)
  .transform(Number)
  .refine((value) => Number.isInteger(value) && value >= 0 && value <= LATEST, SEQ)
  .meta({ type: 'integer', minimum: 0, maximum: LATEST });

function replayRoute(app: Server, { session, clock, wakeEngine }: RouteContext): void {
  const schema = {
    ...{
      summary: 'Send all events after a seq again; activate a disabled receiver',
      tags: ['Webhooks'],
      params,
    },
    ...{
      body: z.strictObject({
        after: seq.optional().describe('absent = from the first event not taken since the last success'),
      }),
      response: { 200: z.object({ name: z.string(), after: z.int() }) },
    },
  };
  app.post('/v1/webhooks/:name/replay', { schema }, async (request, reply) => {
    const { name } = request.params;
    const { after = null } = request.body;
    const asked = await replayEvents(session, { name, after, now: clock.now() });
    wakeEngine();
    return sendJsonText(reply, JSON.stringify(asked));
  });
}
