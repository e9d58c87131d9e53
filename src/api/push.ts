import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { pushedDocument, pushedEntry, storedEntry } from '../outbound/decisions/entry-document.ts';
import { readSendStop, showStanding, waitForEntries } from '../outbound/decisions/entry-list.ts';
import { readBatch, type EntryRequest } from '../outbound/intake/entry-request.ts';
import { checkRequests, storeChecked } from '../outbound/intake/intake.ts';
import { deciderOf } from '../http/access.ts';
import { decodeBody } from '../http/frame.ts';
import { preferredWait } from '../http/limits.ts';
import { abortWhenGone, sendDocument } from '../http/send.ts';
import { recordIdOrNumber } from '../operations/inputs.ts';
import { objectNamed } from '../lib/json/document.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';
import { isRoleAllowed } from '../store/users/user-store.ts';
import type { RouteContext, Server } from '../http/server.ts';

const change = z.strictObject({
  operation: z.enum(['create', 'update']),
  kind: z.string().max(100),
  id: recordIdOrNumber.nullish().describe('of the record to update'),
  data: objectNamed('Data').describe('the fields to write'),
  base: objectNamed('Record').nullish().describe('the record as seen before the update'),
  allowUnknown: z.boolean().optional().describe('true: unknown fields are sent, too'),
  allowDouble: z.boolean().optional().describe('true: made although a record has its natural key'),
});

const headers = z.looseObject({
  'idempotency-key': z
    .string('expected your own key for this change: the same key is stored once')
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/, 'expected 1 to 200 characters of ASCII'),
  prefer: z.string().optional().describe('wait=20: wait for the outcome, 30 seconds at most (RFC 7240)'),
});

const pushSchema = {
  summary: 'Put a create or an update into the outbox',
  description:
    'The same key and body again: 200 and the entry as it is by now. Another body: 409. A create whose natural key something has: 422. `Preference-Applied` where it has waited.',
  operationId: 'push',
  headers,
  body: change,
  response: { 202: pushedEntry, 200: pushedEntry },
};

const NDJSON = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'];
const MOST_LINES = 1_000;

const batch = z.object({
  entries: z.array(storedEntry).describe('in the order of the lines'),
  notes: z.array(z.string()).describe('why nothing is sent at present'),
});

const batchSchema = {
  summary: 'Put a batch of creates and updates into the outbox: all of them, or none',
  description:
    'One JSON object per line, each with `key`, else as for a single push. All stored before: 200. Another change under a known key: 409.',
  operationId: 'pushBatch',
  consumes: NDJSON,
  body: z.string('expected lines of JSON').describe('1,000 lines and 1 MiB at most'),
  response: { 202: batch, 200: batch },
};

/** Puts creates and updates into the outbox. */
export function pushRoutes(app: Server, context: RouteContext): void {
  void app.register((batches: Server, _options, ready) => {
    batchRoute(batches, context);
    ready();
  });
  app.post('/v1/outbox', { config: { role: 'writer' }, schema: pushSchema }, async (request, reply) => {
    const entry = { ...request.body, key: request.headers['idempotency-key'] };
    const [result] = await store(context, request, [entry]);
    if (result === undefined) throw new Error('An entry was neither stored nor refused.');
    const { id, isNew } = result;
    request.entryId = id;
    void reply.code(isNew ? 202 : 200).header('location', `/v1/outbox/${id}`);
    const pushed = pushedDocument(result, await waitForOutcome(context, request, reply, id));
    const stop = pushed.state === 'ready' ? await readSendStop(context) : null;
    return sendDocument(reply, pushedEntry, {
      ...pushed,
      notes: [...pushed.notes, ...(stop === null ? [] : [stop.note])],
    });
  });
}

/** Lines are read as text: a fault in one of them names it. */
function batchRoute(app: Server, context: RouteContext): void {
  app.addContentTypeParser(NDJSON, { parseAs: 'buffer' }, (_: FastifyRequest, body: Buffer) =>
    Promise.resolve(decodeBody(body)),
  );
  app.post(
    '/v1/outbox/batch',
    { config: { role: 'writer' }, schema: batchSchema },
    async (request, reply) => {
      const requests = await readBatch(request.body);
      if (requests.length === 0 || requests.length > MOST_LINES)
        throw new UsageError(`The batch has ${requests.length} lines.`, {
          code: requests.length === 0 ? 'outbox.invalid' : 'http.body_too_large',
          hint: `Send 1 to ${MOST_LINES} lines.`,
        });
      const entries = await store(context, request, withOwnKeys(requests));
      const stop = await readSendStop(context);
      const status = entries.some((entry) => entry.isNew) ? 202 : 200;
      return sendDocument(reply.code(status), batch, {
        entries,
        notes: stop === null ? [] : [stop.note],
      });
    },
  );
}

/** Without a key of its own, a line would be stored once more by each repeated batch. */
function withOwnKeys(requests: readonly EntryRequest[]): readonly EntryRequest[] {
  const lines = new Map<unknown, string>();
  return requests.map((request) => {
    const { key = null, where = '', unreadable } = request;
    const first = lines.get(key);
    lines.set(key, where);
    if (unreadable !== undefined || (key !== null && first === undefined)) return request;
    return {
      ...request,
      unreadable: [key === null ? 'key: expected your own key' : `key: ${first} has the same`],
    };
  });
}

/** Waits for an entry as its caller prefers, until the caller goes or the server closes; undefined where it does not wait. */
async function waitForOutcome(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  id: number,
) {
  const { session, clock, waitLimit, closing } = context;
  const seconds = preferredWait(request.headers['prefer']?.toString());
  const release = seconds > 0 ? waitLimit.reserve(request.user?.name ?? '') : null;
  if (release === null) return undefined;
  void reply.header('preference-applied', `wait=${seconds}`);
  const waiting = { clock, timeoutMs: seconds * 1000, signal: abortWhenGone(reply, closing) };
  const [outcome] = await waitForEntries(session, [id], waiting).finally(release);
  return outcome && (await showStanding(context, [outcome]))[0];
}

/** Checks and stores requests, all or none. */
async function store(context: RouteContext, request: FastifyRequest, requests: readonly EntryRequest[]) {
  const { session, kinds, clock, wakeEngine } = context;
  const by = deciderOf(request, 'api');
  const double = requests.find((each) => each.allowDouble === true);
  if (double !== undefined && !isRoleAllowed(by.role, 'operator'))
    throw new SyncError(
      `${double.where ?? 'body'}: allowDouble needs the role operator; ${by.who} is ${by.role}.`,
      {
        code: 'http.forbidden',
        hint: 'Nothing was stored. An operator can push it.',
      },
    );
  const stored = await storeChecked(session, await checkRequests(session, kinds, requests), clock.now(), by);
  if (stored.some((entry) => entry.isNew)) wakeEngine();
  return stored;
}
