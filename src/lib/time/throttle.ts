import type { Clock } from './clock.ts';

/** Makes a function that calls another one at once, and, if called again meanwhile, once more after `ms`. */
export function throttle(ms: number, clock: Clock, call: () => void): () => void {
  let isWaiting = false;
  let isWanted = false;
  const waitForNext = async (): Promise<void> => {
    await clock.sleep(ms);
    isWaiting = false;
    if (isWanted) run();
  };
  const run = (): void => {
    isWaiting = true;
    isWanted = false;
    call();
    void waitForNext();
  };
  return () => {
    if (isWaiting) isWanted = true;
    else run();
  };
}
