import { SyncError } from '../lib/sync-error.ts';

// Limits for one caller, so that none can block the server for the others.
export const HEAD_BYTES = 16_384;
export const BODY_BYTES = 1_048_576;
/** The bodies of `POST /login` and `POST /language`, which need no authentication. */
export const SIGN_IN_BYTES = 4_096;
export const MAX_CONNECTIONS = 1_024;
/** Connections that the system keeps until we accept them: with a short queue, many at once would retry a second later. */
export const BACKLOG = 4_096;
/** Change streams that may be open at once, and pushes that may wait: of all callers, and of one. */
export const MAX_STREAMS = 64;
export const MAX_STREAMS_PER_USER = 8;
/** The longest that a push waits for its outcome. */
const WAIT_SECONDS = 30;

/** Time to send the head of a request, and all of it. */
export const HEADERS_MS = 5_000;
export const REQUEST_MS = 30_000;
export const KEEP_ALIVE_MS = 10_000;
/** The longest time in which nothing moves on a connection; a stream says something every 15 s. */
export const STILL_MS = 60_000;
/** Milliseconds between two checks for connections that exceed these times. */
export const CHECK_MS = 500;
/** Time for open requests to end once the server closes. */
export const CLOSE_MS = 5_000;

export type StreamLimit = ReturnType<typeof createStreamLimit>;

/** The seconds of `Prefer: wait=20` (RFC 7240), at most 30; the first of several counts. 0 without one. */
export function preferredWait(prefer = ''): number {
  const unquoted = prefer.replaceAll(/"([^"]*)"/g, (_, text: string) => (/^\d+$/.test(text) ? text : ''));
  const wait = /(?:^|,)\s*wait\s*=\s*([^\s,;]*)/i.exec(unquoted)?.[1] ?? '';
  return /^\d+$/.test(wait) ? Math.min(WAIT_SECONDS, Number(wait)) : 0;
}

/** Limits the number of streams, or of waiting pushes, so that one caller leaves places for the others. */
export function createStreamLimit() {
  const openStreams = new Map<symbol, string>();
  const countOwn = (userName: string): number =>
    [...openStreams.values()].filter((holder) => holder === userName).length;
  /** Reserves a place for a user; returns the function that releases it, null if none is left. */
  const reserve = (userName: string): (() => void) | null => {
    if (openStreams.size >= MAX_STREAMS || countOwn(userName) >= MAX_STREAMS_PER_USER) return null;
    const slot = Symbol('stream');
    openStreams.set(slot, userName);
    return () => void openStreams.delete(slot);
  };
  return {
    openStreams: (): number => openStreams.size,
    reserve,
    /** As `reserve`. @throws {SyncError} `server.full` if none is left. */
    acquire: (userName: string): (() => void) => {
      const release = reserve(userName);
      if (release === null) throw fullError(countOwn(userName), openStreams.size);
      return release;
    },
  };
}

const fullError = (own: number, all: number): SyncError =>
  new SyncError(`Too many open streams (${own} of this user, ${all} in total).`, {
    code: 'server.full',
    hint: `Close some (limit per user: ${MAX_STREAMS_PER_USER}), or request pages.`,
  });
