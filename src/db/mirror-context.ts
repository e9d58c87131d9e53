import { createFaultLog, type FaultLog } from '../lib/log/fault-log.ts';
import type { Logger } from '../lib/log/logger.ts';
import { sleepUnlessStopped, type Clock } from '../lib/time/clock.ts';
import { isDatabaseUnavailable } from './session/errors.ts';
import type { Session } from './session/session.ts';

/** The parts that work on a mirror needs. */
export interface MirrorContext {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The same for work that claims rows. */
export interface ProcessContext extends MirrorContext {
  /** This process in the rows that it claims. */
  readonly owner: string;
}

/** Creates the log of some work on a mirror. Outages of the database are left out: they are logged once for all work. */
export function createWorkLog(context: Omit<MirrorContext, 'session'>, name: string): FaultLog {
  const log = createFaultLog(context, { name });
  return {
    ...log,
    failed: (error) => {
      if (!isDatabaseUnavailable(error)) log.failed(error);
    },
  };
}

export type RepeatingTask = ReturnType<typeof repeatTask>;

/**
 * Runs a task at once and then with pauses, never twice at a time. An error is logged; the next round tries again.
 * @param name Names the task in the log: `polling outbox`.
 * @param task Its signal fires when it is stopped; a run may then fail.
 */
export function repeatTask(
  context: Omit<MirrorContext, 'session'>,
  name: string,
  everyMs: number,
  task: (signal: AbortSignal) => Promise<void>,
) {
  const { clock } = context;
  const log = createWorkLog(context, name);
  const stopping = new AbortController();
  const isStopped = (): boolean => stopping.signal.aborted;
  let pause = new AbortController(); // Aborted already where another run is asked for during the present one.
  const run = async (): Promise<void> => {
    while (!isStopped()) {
      pause = new AbortController();
      try {
        await task(stopping.signal);
        log.succeeded();
      } catch (error) {
        if (!isStopped()) log.failed(error);
      }
      await sleepUnlessStopped(everyMs, { clock, signal: pause.signal });
    }
  };
  const ended = run();
  return {
    /** Runs the task now, or once more after the present run. */
    wake: () => {
      pause.abort();
    },
    /** Lets the present run end and begins no other. */
    stop: () => {
      stopping.abort();
      pause.abort();
      return ended;
    },
  };
}
