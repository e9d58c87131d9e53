/** Lets `size` callers in at a time; the rest wait their turn, in order. */
export interface Gate {
  /** Resolves when there is room; rejects when the signal fires first. Every entry needs a `leave`. */
  enter(signal: AbortSignal): Promise<void>;
  leave(): void;
}

export function createGate(size: number): Gate {
  let free = size;
  const waiting = new Set<() => void>();

  return {
    enter: (signal) => {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
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
      const [next] = waiting;
      if (!next) {
        free++;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}
