import { SyncError } from '../lib/sync-error.ts';

/** A limit on the number of requests that wait at the same time. */
export interface WaitingLimit {
  readonly taken: () => number;
  /**
   * Takes a seat; returns a function that gives it back, which works once.
   *
   * @throws {SyncError} `server.full` if none is left.
   */
  readonly take: () => () => void;
}

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
