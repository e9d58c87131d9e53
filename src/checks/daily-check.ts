import type { Clock } from '../lib/time/clock.ts';
import { createFaultLog } from '../lib/log/fault-log.ts';
import type { Logger } from '../lib/log/logger.ts';
import { repeat } from '../lib/log/repeat.ts';
import { checkIntegrity } from '../mirror/sqlite/integrity-check.ts';
import { damageOf, lastCheck, saveCheck } from '../mirror/kinds/integrity-store.ts';
import { isAway } from '../mirror/session/errors.ts';
import type { Session } from '../mirror/session/session.ts';
import { isIdle } from '../mirror/runs/startable-runs.ts';

interface CheckParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the process of an owner has certainly ended. */
  readonly isDead: (owner: string) => boolean;
}

const DAY_MS = 86_400_000;
const LOOK_MS = 60_000;
const NAME = 'checking the database file';

/** Advice for a file that a check found damaged. */
export const DAMAGE_HINT =
  'Stop every process that uses it and restore it from a copy, or move it away and pull into a new one.';

/** Checks the file of a SQLite mirror once a day, when nothing else is under way. Returns a function that stops it. */
export function startDailyCheck(parts: CheckParts): () => Promise<void> {
  if (parts.session.dialect !== 'sqlite') return () => Promise.resolve();
  const stop = new AbortController();
  const task = async (): Promise<void> => {
    try {
      await checkWhenDue(parts, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  };
  const faults = createFaultLog({ ...parts, isTold: isAway });
  const checking = repeat({ clock: parts.clock, faults, everyMs: LOOK_MS, name: NAME, task });
  return () => {
    stop.abort();
    return checking.stop();
  };
}

/** Checks the file if the last check is a day old and nothing is under way; logs and stores the result. */
export async function checkWhenDue(
  { session, clock, logger, isDead }: CheckParts,
  signal?: AbortSignal,
): Promise<void> {
  const now = clock.now();
  const last = await lastCheck(session);
  if (last !== null && Math.abs(now.getTime() - last.getTime()) < DAY_MS) return;
  if (!(await isIdle(session, { now, isDead }))) return;
  const findings = await checkIntegrity(session, signal);
  if (findings.length > 0)
    logger.error({ mirror: session.location, findings, hint: DAMAGE_HINT }, damageOf(findings));
  else logger.info({ mirror: session.location }, 'the database file is sound');
  await session.atomically((tx) => saveCheck(tx, findings, now));
}
