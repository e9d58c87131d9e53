import { AsyncLocalStorage } from 'node:async_hooks';

/** What a worker has in hand: the simulated service alone may know it, as the truth of who sent what. */
export interface InHand {
  readonly entry: number;
  /** The epoch under which the work was begun. */
  readonly epoch: number;
  readonly operation: 'create' | 'update';
  transactions: number;
  hasWritten: boolean;
  /** When it began to read the record that it is about to write. */
  readSince: number | null;
}

/** Follows the work on an entry through the code under test, which knows nothing of it. */
export const working = new AsyncLocalStorage<InHand>();
