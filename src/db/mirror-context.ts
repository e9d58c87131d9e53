import { createFaultLog } from '../lib/log/fault-log.ts';
import type { Logger } from '../lib/log/logger.ts';
import { repeatTask, type RepeatingTask } from '../lib/log/repeat-task.ts';
import type { Owner } from '../lib/owner.ts';
import type { Clock } from '../lib/time/clock.ts';
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
  readonly owner: Owner;
}

/** Runs a task at once and then with pauses, and logs its faults, except outages of the database, which are logged once for all tasks. */
export function repeatMirrorTask(
  context: MirrorContext,
  name: string,
  everyMs: number,
  task: () => Promise<void>,
): RepeatingTask {
  const { clock, logger } = context;
  const faults = createFaultLog(logger, clock, isDatabaseUnavailable);
  return repeatTask({ clock, faults, everyMs, name, task });
}
