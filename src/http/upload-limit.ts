import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify';
import { createSerialQueue } from '../lib/serial-queue.ts';
import { createShares } from './limits.ts';

/** The largest file that the server accepts; the command `plan` accepts larger ones. */
export const UPLOAD_BYTES = 10 * 1024 * 1024;
/** The largest form with such a file. */
export const FORM_BYTES = UPLOAD_BYTES + 10_000;
/** In memory at once: of one user three of the largest, or many small ones. */
const BYTES = { most: 8 * FORM_BYTES, mostOfOne: 3 * FORM_BYTES, hint: 'Try again in a few seconds.' };

export type UploadLimit = ReturnType<typeof createUploadLimit>;

/** Bounds the memory that uploads take: they arrive side by side up to a limit and a share for each user, and are read one after the other. */
export function createUploadLimit() {
  const memory = createShares('uploads', BYTES);
  const inTurn = createSerialQueue();
  return {
    /** Works on a body that has arrived, once the earlier ones are done. */
    inTurn,
    /** Reserves memory for a body before it arrives. @throws {SyncError} `server.full` if none is left. */
    reserve: async (request: FastifyRequest, reply: FastifyReply) => {
      const bytes = Number(request.headers['content-length'] ?? FORM_BYTES);
      if (bytes > request.routeOptions.bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
      const release = memory.acquire(request.user?.name ?? '', bytes);
      // In turn, because waiting work continues after its caller has gone.
      const releaseInTurn = () => {
        release();
        return Promise.resolve();
      };
      reply.raw.once('close', () => void inTurn(releaseInTurn));
    },
  };
}
