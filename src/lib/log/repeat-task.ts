import { sleepUnlessStopped, type Clock } from '../time/clock.ts';
import type { FaultLog } from './fault-log.ts';

export interface RepeatingTask {
  /** Runs the task now, or once more after the present run. */
  readonly wake: () => void;
  /** Lets the present run end and begins no other. */
  readonly stop: () => Promise<void>;
}

/** Runs a task at once and then with pauses, never twice at a time. */
export function repeatTask(parts: {
  readonly clock: Clock;
  readonly faults: FaultLog;
  readonly everyMs: number;
  /** Names the task in the log of faults: `polling outbox`. */
  readonly name: string;
  /** An error is logged; the next round tries again. */
  readonly task: () => Promise<void>;
}): RepeatingTask {
  const { clock, faults, everyMs, name, task } = parts;
  let isStopped = false;
  let pause = new AbortController(); // Aborted already where another run is asked for during the present one.
  const run = async (): Promise<void> => {
    while (!isStopped) {
      pause = new AbortController();
      try {
        await task();
      } catch (error) {
        faults(name, error);
      }
      await sleepUnlessStopped(everyMs, { clock, signal: pause.signal });
    }
  };
  const ended = run();
  return {
    wake: () => pause.abort(),
    stop: () => {
      isStopped = true;
      pause.abort();
      return ended;
    },
  };
}

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
