/** Lets so many callers in at a time as `size` says at that moment; the rest wait their turn, in order. */
export interface Gate {
  /** Resolves when there is room; rejects when the signal fires first. Every entry needs a `leave`. */
  enter(signal: AbortSignal): Promise<void>;
  leave(): void;
}

export function createGate(size: () => number): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();

  return {
    enter: (signal) => {
      signal.throwIfAborted();
      if (inside < size()) {
        inside++;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const admit = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        };
        const giveUp = (): void => {
          waiting.delete(admit);
          reject(new Error('aborted while waiting'));
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(admit);
      });
    },
    leave: () => {
      inside--;
      for (const next of waiting) {
        if (inside >= size()) return;
        waiting.delete(next);
        inside++;
        next();
      }
    },
  };
}
