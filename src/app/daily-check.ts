import { repeat } from '../jobs/repeat.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { SyncError, describe } from '../lib/sync-error.ts';
import { checkIntegrity } from '../mirror/sqlite/integrity-check.ts';
import { damageOf, lastCheck, saveCheck } from '../mirror/kinds/integrity-store.ts';
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
      if (stop.signal.aborted) return;
      const fault = error instanceof SyncError ? describe(error) : String(error);
      parts.logger.error({ fault }, 'the database file could not be checked'); // The next check tries again.
    }
  };
  const checking = repeat({ clock: parts.clock, everyMs: LOOK_MS, task });
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
