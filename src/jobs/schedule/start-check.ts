import { createFaultLog } from '../../lib/log/fault-log.ts';
import { repeat } from '../../lib/log/repeat.ts';
import { isAway } from '../../mirror/session/errors.ts';
import type { ScheduleParts } from './schedule.ts';

interface Check {
  readonly everyMs: number;
  /** Names the check in the log of faults. */
  readonly name: string;
  readonly task: () => Promise<void>;
}

/** Runs a check at once and then with pauses. Returns a function that stops it. */
export function startCheck(
  { clock, logger }: Pick<ScheduleParts, 'clock' | 'logger'>,
  check: Check,
): () => Promise<void> {
  const checks = repeat({ clock, faults: createFaultLog({ clock, logger, isTold: isAway }), ...check });
  return () => checks.stop();
}
