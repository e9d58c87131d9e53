import type { Clock } from '../lib/clock.ts';

export interface Repeating {
  /** Runs the task now, or once more after the present run. */
  wake(): void;
  /** Lets the present run end and begins no other. */
  stop(): Promise<void>;
}

interface Repeat {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Must not throw. */
  readonly task: () => Promise<void>;
}

/** Runs a task at once and then with pauses, never twice at a time. */
export function repeat({ clock, everyMs, task }: Repeat): Repeating {
  const state = { isStopped: false, isAsked: false, pause: new AbortController() };
  const rest = async (): Promise<void> => {
    const pause = new AbortController();
    state.pause = pause;
    try {
      await clock.sleep(everyMs, pause.signal);
    } catch (error) {
      if (!pause.signal.aborted) throw error; // Otherwise a call of `now` ended the pause.
    }
  };
  const wasAsked = (): boolean => state.isAsked; // Requested during the run.
  const run = async (): Promise<void> => {
    while (!state.isStopped) {
      state.isAsked = false;
      await task();
      if (!wasAsked()) await rest();
    }
  };
  const wake = (): void => {
    state.isAsked = true;
    state.pause.abort();
  };
  const ended = run();
  return {
    wake,
    stop: () => {
      state.isStopped = true;
      wake();
      return ended;
    },
  };
}
