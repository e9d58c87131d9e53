import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify';
import { createSerialQueue } from '../lib/serial-queue.ts';
import { SyncError } from '../lib/sync-error.ts';

/** The largest file that the server accepts; the command `plan` accepts larger ones. */
export const UPLOAD_BYTES = 10 * 1024 * 1024;
/** The largest form with such a file. */
export const FORM_BYTES = UPLOAD_BYTES + 10_000;
/** The limit of all uploads that are in memory at once. */
const ALL_BYTES = 8 * FORM_BYTES;
/** Those of one user: three of the largest, or many small ones. */
const USER_BYTES = 3 * FORM_BYTES;

export type UploadLimit = ReturnType<typeof createUploadLimit>;

/** Bounds the memory that uploads take: they arrive side by side up to a limit and a share for each user, and are read one after the other. */
export function createUploadLimit() {
  let free = ALL_BYTES;
  const taken = new Map<string, number>();
  const inTurn = createSerialQueue();
  return {
    /** Works on a body that has arrived, once the earlier ones are done. */
    inTurn,
    /** Reserves memory for a body before it arrives. @throws {SyncError} `server.full` if none is left. */
    reserve: async (request: FastifyRequest, reply: FastifyReply) => {
      const bytes = Number(request.headers['content-length'] ?? FORM_BYTES);
      if (bytes > request.routeOptions.bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
      const { name } = request.user ?? { name: '' };
      const own = (taken.get(name) ?? 0) + bytes;
      if (bytes > free || own > USER_BYTES)
        throw new SyncError('Too many uploads at once.', {
          code: 'server.full',
          hint: 'Try again in a few seconds.',
        });
      free -= bytes;
      taken.set(name, own);
      // In turn, because waiting work continues after its caller has gone.
      const release = () => {
        free += bytes;
        taken.set(name, (taken.get(name) ?? bytes) - bytes);
        return Promise.resolve();
      };
      reply.raw.once('close', () => void inTurn(release));
    },
  };
}
