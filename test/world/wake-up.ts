import type { Timeline } from './timeline.ts';

/** Wakes people who rest, before their time. */
export interface WakeUp {
  rest(ms: number): Promise<void>;
  wake(): void;
}

export function createWakeUp({ after, stir }: Timeline): WakeUp {
  const resting = new Set<() => void>();
  return {
    rest: (ms) =>
      new Promise((resolve) => {
        const wake = (): void => {
          callOff();
          resting.delete(wake);
          stir();
          resolve();
        };
        const callOff = after(ms, wake);
        resting.add(wake);
      }),
    wake: () => {
      for (const wake of [...resting]) wake();
    },
  };
}
