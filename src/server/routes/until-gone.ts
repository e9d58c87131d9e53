import type { FastifyReply } from 'fastify';

/** Fires once the caller has gone or the server closes. */
export function untilGone(reply: FastifyReply, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => {
    closing.removeEventListener('abort', leave); // The signal outlives all requests: listeners would keep them in memory.
    gone.abort();
  };
  closing.addEventListener('abort', leave, { once: true });
  reply.raw.once('close', leave);
  if (closing.aborted || reply.raw.closed || reply.raw.destroyed) leave();
  return gone.signal;
}
