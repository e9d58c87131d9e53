import type { Timeline } from '../simulation/timeline.ts';

/** Wakes those who rest, before their time. */
export interface Bell {
  rest(ms: number): Promise<void>;
  ring(): void;
}

export function createBell({ after, stir }: Timeline): Bell {
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
    ring: () => {
      for (const wake of [...resting]) wake();
    },
  };
}
