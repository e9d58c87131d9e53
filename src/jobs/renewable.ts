import type { Clock } from '../lib/clock.ts';
import type { OnFault, QueueEnd } from './job-store.ts';

export interface RenewableParts<T extends QueueEnd> {
  readonly clock: Clock;
  /** One that broke is not made anew sooner than this. */
  readonly reopenMs: number;
  readonly open: (onFault: OnFault) => T;
  /** Ends one for good. */
  readonly retire: (end: T) => Promise<void>;
  readonly onFault: (error: unknown) => void;
}

/** An end of a queue that is made when needed and made anew when it broke. */
export interface Renewable<T extends QueueEnd> {
  /** The present one; null where it broke a moment ago, or after `close`. */
  get(): T | null;
  /** Retires the present one; the next is made when needed. */
  renew(): void;
  close(): Promise<void>;
}

const STORM = 100; // So many faults in a second are a loop without a pause.
const STORM_MS = 1_000;

export function createRenewable<T extends QueueEnd>(parts: RenewableParts<T>): Renewable<T> {
  const { clock, reopenMs, open, retire, onFault } = parts;
  const retiring = new Set<Promise<void>>();
  let current: T | null = null;
  let opened = 0;
  let notBefore = -Infinity;
  let isClosed = false;

  const renew = (): void => {
    if (current === null) return;
    const end = retire(current).then(() => void retiring.delete(end));
    retiring.add(end);
    current = null;
  };
  const make = (): T => {
    const number = ++opened;
    const isStorm = createStormWatch(clock);
    return open((error, isFatal) => {
      if (number !== opened || current === null) return; // Of one that was retired.
      onFault(error);
      if (isFatal === undefined && !isStorm()) return;
      notBefore = clock.monotonicMs() + reopenMs;
      renew();
    });
  };
  return {
    get: () => {
      if (!isClosed && clock.monotonicMs() >= notBefore) current ??= make();
      return current;
    },
    renew,
    close: async () => {
      isClosed = true;
      renew();
      await Promise.all(retiring);
    },
  };
}

/** Counts itself being called; true once that was too often. */
function createStormWatch(clock: Clock): () => boolean {
  let since = -Infinity;
  let count = 0;
  return () => {
    const now = clock.monotonicMs();
    if (now - since > STORM_MS) [since, count] = [now, 0];
    count += 1;
    return count >= STORM;
  };
}
