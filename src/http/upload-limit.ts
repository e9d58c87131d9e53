import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify';
import { createSerialQueue } from '../lib/serial-queue.ts';
import { SyncError } from '../lib/sync-error.ts';

/** The largest file that the server takes; the command `plan` takes larger ones. */
export const UPLOAD_BYTES = 10 * 1024 * 1024;
/** Of a form with such a file. */
export const FORM_BYTES = UPLOAD_BYTES + 10_000;
/** Of all uploads that are in memory at once. */
const ALL_BYTES = 8 * FORM_BYTES;

export type UploadLimit = ReturnType<typeof createUploadLimit>;

/** Bounds the memory that uploads take: they arrive side by side up to a limit, and are read one after the other. */
export function createUploadLimit() {
  const held = new Map<FastifyRequest, number>();
  const atWork = new Set<FastifyRequest>();
  const inTurn = createSerialQueue();
  const release = (request: FastifyRequest): void => {
    if (!atWork.has(request)) held.delete(request);
  };
  return {
    /** Reserves memory for a body before it arrives. @throws {SyncError} `server.full` if none is left. */
    reserve: async (request: FastifyRequest, reply: FastifyReply) => {
      const bytes = Number(request.headers['content-length'] ?? FORM_BYTES);
      const all = [...held.values()].reduce((sum, some) => sum + some, bytes);
      if (bytes > request.routeOptions.bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
      if (all > ALL_BYTES)
        throw new SyncError('Too many uploads at once.', { code: 'server.full', hint: WAIT });
      held.set(request, bytes);
      reply.raw.once('close', () => {
        release(request);
      });
    },
    /** Works on a body that has arrived, once the earlier ones are done. */
    inTurn: async <T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> => {
      atWork.add(request); // Its memory is in use even if the caller has gone.
      try {
        return await inTurn(work);
      } finally {
        atWork.delete(request);
        release(request);
      }
    },
  };
}

const WAIT = 'Try again in a few seconds.';
