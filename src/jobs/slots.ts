/** A fixed number of hands. */
export interface Slots {
  /** How many hands are free. */
  free(): number;
  /** Does the work as soon as a hand is free, first come, first served. */
  run(work: () => Promise<void>): Promise<void>;
  /** Resolves once nothing is in hand and nobody waits. */
  idle(): Promise<void>;
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  const ended = new Set<Promise<void>>();
  let free = count;
  const take = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next(); // The hand goes over without becoming free.
  };
  const run = async (work: () => Promise<void>): Promise<void> => {
    await take();
    try {
      await work();
    } finally {
      release();
    }
  };
  return {
    free: () => free,
    run: (work) => {
      const running = run(work);
      const end = running.then(
        () => void ended.delete(end),
        () => void ended.delete(end), // The caller has the error.
      );
      ended.add(end);
      return running;
    },
    idle: async () => {
      while (ended.size > 0) await Promise.all(ended);
    },
  };
}
