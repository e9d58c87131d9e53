import { SyncError } from '../lib/sync-error.ts';

// Limits for one caller, so that none can block the server for the others.
export const HEAD_BYTES = 16_384;
export const BODY_BYTES = 1_048_576;
/** Limits of a body on an open route: its bytes, and milliseconds. */
export const OPEN_BODY_BYTES = 4_096;
export const OPEN_BODY_MS = 5_000;
export const CONNECTIONS = 1_024;
/**
 * The backlog of connections that the system keeps until we accept them: with a short one, many at once would retry a second
 * later.
 */
export const BACKLOG = 4_096;
/** Requests that one connection may send ahead of their answers. */
export const PIPELINED = 16;
/** Change streams and long polls that may be open at once. */
export const WAITING = 64;

/** Time to send the head of a request, and all of it. */
export const HEADERS_MS = 10_000;
export const REQUEST_MS = 30_000;
export const KEEP_ALIVE_MS = 10_000;
/** The longest time without progress while a client reads an answer. */
export const STILL_MS = 30_000;
/** Limits for discarding the rest of a request that was answered early: the total time, and the time without a byte. */
export const LINGER_BYTES = 67_108_864;
export const LINGER_MS = 30_000;
export const LINGER_STILL_MS = 5_000;
/** Milliseconds between two checks for connections that exceed these times. */
export const CHECK_MS = 5_000;
/** Time for open requests to end once the server closes. */
export const CLOSE_MS = 5_000;

export interface WaitingLimit {
  readonly taken: () => number;
  /**
   * Takes a seat; returns a function that gives it back, which works once.
   *
   * @throws {SyncError} `server.full` if none is left.
   */
  readonly take: () => () => void;
}

/** Limits the number of requests that wait at the same time. */
export function createWaitingLimit(count: number): WaitingLimit {
  const taken = new Set<symbol>();
  return {
    taken: () => taken.size,
    take: () => {
      if (taken.size >= count)
        throw new SyncError('Too many requests wait already.', {
          code: 'server.full',
          hint: 'Close some streams, or ask without wait.',
        });
      const seat = Symbol('seat');
      taken.add(seat);
      return () => void taken.delete(seat);
    },
  };
}
