import type { FastifyReply } from 'fastify';
import { compactJson } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';

/** Sends JSON text. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Sends a document; a number of a record keeps its digits. */
export function sendJson(reply: FastifyReply, document: Json): FastifyReply {
  return sendJsonText(reply, compactJson(document));
}
