import { SyncError } from '../lib/sync-error.ts';

/** So many requests may wait at once. */
export interface Seats {
  readonly taken: () => number;
  /**
   * Takes a seat; returns how to give it back, once.
   *
   * @throws {SyncError} `server.full` where none is left.
   */
  readonly take: () => () => void;
}

export function createSeats(count: number): Seats {
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
