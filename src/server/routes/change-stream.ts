import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { awaitChanges } from '../../feed/await-changes.ts';
import { changeLine } from '../../feed/change-line.ts';
import type { RouteContext } from '../server.ts';
import { untilGone } from './until-gone.ts';

interface Stream {
  readonly after: number;
  readonly kind: string | undefined;
}

const PAGE = 500;
const RETRY_MS = 2_000;
const QUIET_MS = 15_000; // Proxies end connections that are silent for longer.

/** Sends change events as they come, until the caller goes or the server closes. */
export function sendStream(reply: FastifyReply, context: RouteContext, stream: Stream): FastifyReply {
  const stand = context.seats.take();
  const signal = untilGone(reply, context.closing);
  if (signal.aborted) stand();
  signal.addEventListener('abort', stand, { once: true });
  return reply
    .type('text/event-stream; charset=utf-8')
    .header('connection', 'close') // It ends with the stream: idle, it would keep the server from closing.
    .header('x-accel-buffering', 'no') // nginx would collect them.
    .send(Readable.from(events(context, stream, signal)));
}

/** Server-sent events, each with its `seq` as its id: a caller that reconnects continues after the last one. */
async function* events(
  { session, clock }: RouteContext,
  { after, kind }: Stream,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  for (let cursor = after; !signal.aborted;) {
    const waiting = { clock, signal, waitMs: QUIET_MS };
    const { changes, next } = await awaitChanges(session, { after: cursor, kind, limit: PAGE }, waiting);
    cursor = next;
    if (changes.length === 0) yield ':\n\n';
    for (const change of changes) yield `id: ${change.seq}\ndata: ${changeLine(change)}\n\n`;
  }
}
