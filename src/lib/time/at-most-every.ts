import type { Clock } from './clock.ts';

/** Makes a function that calls another one at once, and, if called again meanwhile, once more after `ms`. */
export function atMostEvery(ms: number, clock: Pick<Clock, 'sleep'>, call: () => void): () => void {
  let isResting = false;
  let isWanted = false;
  const rest = async (): Promise<void> => {
    await clock.sleep(ms);
    isResting = false;
    if (isWanted) run();
  };
  const run = (): void => {
    [isResting, isWanted] = [true, false];
    call();
    void rest();
  };
  return () => {
    if (isResting) isWanted = true;
    else run();
  };
}
