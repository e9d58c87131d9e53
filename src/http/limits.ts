import { SyncError } from '../lib/sync-error.ts';

// Limits for one caller, so that none can block the server for the others.
export const HEAD_BYTES = 16_384;
export const BODY_BYTES = 1_048_576;
/** The bodies of `POST /login` and `POST /language`, which need no authentication. */
export const SIGN_IN_BYTES = 4_096;
export const MAX_CONNECTIONS = 1_024;
/** Connections that the system keeps until we accept them: with a short queue, many at once would retry a second later. */
export const BACKLOG = 4_096;
/** Change streams that may be open at once, and pushes that may wait. */
export const STREAMS = { most: 64, mostOfOne: 8, hint: 'Close some (limit per user: 8), or request pages.' };
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

export type Shares = ReturnType<typeof createShares>;

/** The seconds of `Prefer: wait=20` (RFC 7240), at most 30; the first of several counts. 0 without one. */
export function preferredWait(prefer = ''): number {
  const unquoted = prefer.replaceAll(/"([^"]*)"/g, (_, text: string) => (/^\d+$/.test(text) ? text : ''));
  const wait = /(?:^|,)\s*wait\s*=\s*([^\s,;]*)/i.exec(unquoted)?.[1] ?? '';
  return /^\d+$/.test(wait) ? Math.min(WAIT_SECONDS, Number(wait)) : 0;
}

/** Shares something among users, so that one of them leaves some for the others. @param what Names it in a message: `open streams`. */
export function createShares(
  what: string,
  { most, mostOfOne, hint }: { readonly most: number; readonly mostOfOne: number; readonly hint: string },
) {
  const taken = new Map<string, number>(); // By user.
  const total = (): number => [...taken.values()].reduce((sum, share) => sum + share, 0);
  /** Takes a share for a user; returns the function that gives it back, null if there is not enough left. */
  const reserve = (user: string, share = 1): (() => void) | null => {
    const own = taken.get(user) ?? 0;
    if (total() + share > most || own + share > mostOfOne) return null;
    taken.set(user, own + share);
    return () => void taken.set(user, (taken.get(user) ?? 0) - share);
  };
  return {
    total,
    reserve,
    /** As `reserve`. @throws {SyncError} `server.full` if there is not enough left. */
    acquire: (user: string, share = 1): (() => void) => {
      const release = reserve(user, share);
      if (release === null) throw new SyncError(`Too many ${what} at once.`, { code: 'server.full', hint });
      return release;
    },
  };
}
