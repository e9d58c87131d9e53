import type { FastifyReply } from 'fastify';
import type { Answer } from './answer.ts';

/** Puts an answer on the wire; one that does not arrive whole takes its socket with it. */
export function sendAnswer(reply: FastifyReply, { status, headers, body, arrives }: Answer): FastifyReply {
  if (arrives === 'whole') return reply.code(status).headers(headers).send(body);
  void reply.hijack(); // From here on the raw response is ours.
  if (arrives === 'not at all') {
    reply.raw.destroy();
  } else {
    const bytes = Buffer.from(body);
    reply.raw.writeHead(status, { ...headers, 'content-length': bytes.length });
    reply.raw.write(bytes.subarray(0, arrives.bytes), () => reply.raw.destroy());
  }
  return reply;
}
