import * as z from 'zod';
import { replayEvents, switchEndpoint } from '../events/webhooks/endpoint-activity.ts';
import { addEndpoint, deleteEndpoint, FORMATS, rotateSecret } from '../events/webhooks/endpoints.ts';
import { mailUnsetError } from '../events/webhooks/messages.ts';
import { ENTRY_DONE } from '../store/notifications/endpoints.ts';
import { testEndpoint } from '../events/webhooks/test-event.ts';
import { UsageError } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { listsFields } from '../catalog/find-kind.ts';
import type { Kind } from '../catalog/kind.ts';
import type { Queryable } from '../db/session/session.ts';
import { readSeenNames } from '../store/kinds/field-store.ts';
import { isNumber, type Json } from '../lib/json/json.ts';
import { LANGUAGES } from '../lib/text/translator.ts';
import { kindText, requireKind } from './inputs.ts';
import { operation } from './operation.ts';

const endpointName = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'expected a name: letters, digits, _ and -, 64 at most')
  .describe('name of the endpoint');

const endpointInput = z.strictObject({ name: endpointName });
const state = z.enum(['active', 'disabled']);
const endpointState = z.object({ name: z.string(), state });
const secret = z.string().describe('shown this once');
const revealed = z.object({ name: z.string(), url: z.string(), secret });

const CHANGES = ['created', 'updated', 'deleted', 'restored', ENTRY_DONE] as const;
const fieldName = z.string().regex(/^\w{1,64}$/);

export const addWebhook = operation({
  name: 'add',
  path: '/webhooks',
  role: 'admin',
  summary: 'add an endpoint; it gets all events from now on',
  input: z.strictObject({
    name: endpointName,
    url: z
      .string()
      .max(2048)
      .describe('a public https URL, one whose host stands in webhooks.allowHosts, or mailto:ADDRESS'),
    kinds: z.array(kindText).max(100).nullish().describe('only events of these record kinds'),
    changes: z
      .array(z.enum(CHANGES))
      .nullish()
      .describe(
        `only these changes: ${CHANGES.join(', ')} (format json: your entries, and events with their keys)`,
      ),
    fields: z.array(fieldName).max(100).nullish().describe('only updates of one of these fields'),
    format: z
      .enum(FORMATS)
      .default('json')
      .describe('slack, teams, text and email receive notifications only; email for mailto:'),
    language: z
      .enum(LANGUAGES)
      .nullish()
      .describe('language of notifications, en or fr (default: the one of the settings)'),
  }),
  answer: revealed,
  status: 201,
  run: async (context, input) => {
    const { kinds = null, changes = null, fields = null, language = null, ...rest } = input;
    const about = kinds?.map((kind) => requireKind(context.kinds, kind)) ?? context.kinds;
    if (fields !== null) await requireFields(context.session, about, fields);
    if (rest.format === 'email' && context.webhooks.mail.url === null)
      throw mailUnsetError('The receiver is not added');
    const isBare = rest.format === 'email' && !rest.url.includes(':');
    const url = isBare ? `mailto:${rest.url}` : rest.url;
    const endpoint = { ...rest, url, kinds, changes, fields, language };
    return addEndpoint(context.session, endpoint, { ...context.webhooks, now: context.clock.now() });
  },
});

/** @throws {UsageError} `usage.field` for a field that none of these kinds has. */
async function requireFields(db: Queryable, kinds: readonly Kind[], names: readonly string[]): Promise<void> {
  const seen = await readSeenNames(
    db,
    kinds.map((kind) => kind.name),
  );
  const declared = kinds.flatMap((kind) => [...kind.fields, ...kind.hints].map((field) => field.name));
  const known = [...declared, ...[...seen.values()].flatMap((fields) => [...fields])];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const hint = listsFields(kinds.length === 1 ? kinds[0]?.name : undefined);
  const message = `Unknown field "${unknown}"${didYouMean(unknown, known) || '.'}`;
  throw new UsageError(message, { code: 'usage.field', hint });
}

const removeWebhook = operation({
  path: '/webhooks/:name/remove',
  role: 'admin',
  summary: 'remove an endpoint and its deliveries',
  notice: 'The endpoint is removed, with its deliveries.',
  input: endpointInput,
  answer: z.object({ name: z.string(), removed: z.boolean() }),
  run: async ({ session }, { name }) => {
    await deleteEndpoint(session, name);
    return { name, removed: true };
  },
});

const rotateWebhook = operation({
  path: '/webhooks/:name/rotate',
  role: 'admin',
  summary: 'replace the secret of an endpoint; the old one stays valid for a day',
  input: endpointInput,
  answer: revealed,
  run: (context, input) => rotateSecret(context.session, input.name, context.clock.now()),
});

export const enableWebhook = operation({
  path: '/webhooks/:name/enable',
  role: 'operator',
  summary: 'send the waiting deliveries, then the events since',
  notice: 'Enabled: the waiting deliveries are sent.',
  input: endpointInput,
  answer: endpointState,
  run: (context, input) => switchEndpoint(context.session, input.name, 'active', context.clock.now()),
});

export const disableWebhook = operation({
  path: '/webhooks/:name/disable',
  role: 'operator',
  summary: 'keep the deliveries waiting until the endpoint is enabled',
  notice: 'Disabled: nothing is sent until the endpoint is enabled.',
  input: endpointInput,
  answer: endpointState,
  run: (context, input) => switchEndpoint(context.session, input.name, 'disabled', context.clock.now()),
});

const isSeq = (value: unknown): boolean =>
  (typeof value === 'string' || isNumber(value as Json)) && /^\d{1,15}(?:\.0+)?$/.test(String(value));

export const replayWebhook = operation({
  path: '/webhooks/:name/replay',
  role: 'operator',
  summary: 'send the events again, after a number or since the last success; enables a disabled endpoint',
  notice: 'The events are sent again.',
  counted:
    '{n, plural, =0 {There are no events to send again.} one {# event is sent again.} other {# events are sent again.}}',
  input: endpointInput.extend({
    after: z
      .custom<Json>(isSeq, 'expected the number of an event (seq), or 0')
      .transform(Number)
      .optional()
      .meta({
        type: 'integer',
        minimum: 0,
        description:
          'events with a higher number (default: from the first one not accepted since the last success)',
      }),
  }),
  answer: z.object({ name: z.string(), after: z.int(), events: z.int().describe('how many are sent') }),
  run: (context, { name, after = null }) => replayEvents(context.session, name, after, context.clock.now()),
});

export const testWebhook = operation({
  path: '/webhooks/:name/test',
  role: 'operator',
  summary: 'send an endpoint one test event now; if it accepts it, also what waits',
  input: endpointInput,
  answer: z.object({
    name: z.string(),
    state: state.describe('disabled: nothing but this test is sent to it'),
    webhookId: z.string(),
    delivered: z.boolean(),
    status: z.int().nullable(),
    error: z.string().nullable(),
    responseStart: z.string().nullable(),
    durationMs: z.int(),
  }),
  run: (context, input) => testEndpoint(context, context.webhooks, input.name),
});

export const webhookOperations = [
  addWebhook,
  testWebhook,
  rotateWebhook,
  enableWebhook,
  disableWebhook,
  replayWebhook,
  removeWebhook,
];
