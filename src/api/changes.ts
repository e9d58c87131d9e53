import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import {
  changeLine,
  followPages,
  locateReader,
  readChangesPage,
  type FollowOptions,
  type Position,
} from '../events/follow-changes.ts';
import { abortWhenGone, sendJsonText, sendProblem } from '../http/send.ts';
import { checkKind, knownKindName, wholeNumber } from '../operations/inputs.ts';
import { objectNamed } from '../lib/json/document.ts';
import type { RouteContext, Server } from '../http/server.ts';

const headers = z.looseObject({
  'last-event-id': wholeNumber(0).optional().describe('of a stream: goes on after this seq'),
});

const page = z.object({
  changes: z.array(objectNamed('Change')),
  next: z.int().describe('the next value of `after`'),
  log: z.string().describe('names the numbering: another one after a restored database'),
});

const schema = {
  summary: 'Read change events in order',
  description:
    'With `Accept: text/event-stream` it is a stream of server-sent events: `id` is the seq, `data` one `Change`. ' +
    'A reader that has missed events gets 410, on a stream the event `reset`, with `next` and `log`: it reads all records, then goes on after `next`.',
  tags: ['Mirror'],
  headers,
  response: { 200: page },
};

/** Change events: a page, or a stream until the caller goes or the server closes. */
export function changeRoutes(app: Server, context: RouteContext): void {
  const { session, kinds } = context;
  const querystring = z.strictObject({
    after: wholeNumber(0).default(0).describe('only events after this seq'),
    limit: wholeNumber(1, 1000).default(100).describe('maximum number of events; a stream has no end'),
    kind: knownKindName(kinds).optional(),
    log: z.string().optional().describe('that of the answer that `after` is from'),
  });
  const options = { exposeHeadRoute: false, schema: { ...schema, querystring } };
  app.get('/v1/changes', options, async (request, reply) => {
    const { after, kind, limit, log } = request.query;
    checkKind(kinds, kind);
    if (/\btext\/event-stream\b/i.test(request.headers.accept ?? '')) {
      const release = context.streamLimit.acquire(request.user?.name ?? '');
      const signal = abortWhenGone(reply, context.closing);
      if (signal.aborted) release();
      signal.addEventListener('abort', release, { once: true });
      const seen = request.headers['last-event-id'];
      const from = seen === undefined ? { after, log, kind } : { after: seen, kind };
      const stream = streamEvents(context, request, from, signal);
      return reply
        .type('text/event-stream; charset=utf-8')
        .header('connection', 'close') // It ends with the stream: idle, it would keep the server from closing.
        .header('x-accel-buffering', 'no') // nginx would collect them.
        .send(Readable.from(stream));
    }
    const place = await locateReader(session, { after, log });
    if (place.isLost) return sendProblem(reply, { ...MISSED, more: { next: place.next, log: place.log } });
    const { changes, next } = await readChangesPage(session, { after, kind, limit });
    const lines = changes.map(changeLine).join(',');
    return sendJsonText(reply, `{"changes":[${lines}],"next":${next},"log":${JSON.stringify(place.log)}}`);
  });
}

const MISSED = {
  status: 410,
  code: 'changes.missed',
  detail: 'Later events were removed, or the database was restored.',
  hint: 'Read all records (GET /v1/export/KIND), then go on after `next`.',
};

const RETRY_MS = 2_000;
const QUIET_MS = 15_000; // Proxies end connections that are silent for longer.

/**
 * Server-sent events, each with its `seq` as its id: a caller that reconnects continues after the last one. They end once the
 * caller is let in no longer.
 */
async function* streamEvents(
  context: RouteContext,
  request: FastifyRequest,
  { kind, ...from }: FollowOptions & Position,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  const { session, clock, access } = context;
  for (let position: Position = from; !signal.aborted;) {
    const { isLost, next, log } = await locateReader(session, position);
    let last = isLost ? next : position.after;
    if (isLost) yield `event: reset\nid: ${next}\ndata: ${JSON.stringify({ next, log })}\n\n`;
    for await (const changes of followPages(session, { after: last, kind }, { clock, signal }, QUIET_MS)) {
      if (!('role' in (await access.authenticate(request)))) return;
      const now = await locateReader(session, { after: 0, log });
      if (now.isLost || now.next < last) break; // The database was restored meanwhile.
      if (changes.length === 0) yield ':\n\n';
      for (const change of changes) yield `id: ${change.seq}\ndata: ${changeLine(change)}\n\n`;
      last = changes.at(-1)?.seq ?? last;
    }
    position = { after: last, log };
  }
}
