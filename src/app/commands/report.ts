import { sql } from 'drizzle-orm';
import { allKinds, listedKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { findRun, listRuns } from '../../mirror/runs/run-store.ts';
import type { KindReport, Run } from '../../mirror/runs/run-store.ts';
import type { Row } from '../../mirror/session/session.ts';
import { createOwner } from '../../pull/run/parts.ts';
import { readStatusReport } from '../../server/status.ts';
import type { StatusReport } from '../../server/status.ts';
import { allSchedules } from '../schedules.ts';
import { openExistingMirror } from '../open-mirror.ts';

export { changeLogText } from '../../checks/database.ts';
export { outcomeWords } from '../../mirror/kinds/outcome-words.ts';
export type { Row } from '../../mirror/session/session.ts';
export type { Status, StatusReport } from '../../server/status.ts';

/** Reads how fresh and how sound the mirror is, and when its kinds are pulled next. */
export async function readMirrorStatus(config: Config): Promise<StatusReport> {
  await using session = await openExistingMirror(config);
  const outlook = { schedules: allSchedules(config), isDead: createOwner().isDead, now: systemClock.now() };
  return await readStatusReport(session, allKinds(config), outlook);
}

/** Reads the latest runs, newest first. */
export async function readRuns(config: Config, limit: number): Promise<readonly Run[]> {
  await using session = await openExistingMirror(config);
  return await listRuns(session, { limit, now: systemClock.now() });
}

/** Whether a run covered every kind that has a list. */
export function isOfAllKinds(config: Config, { kinds }: Run): boolean {
  return listedKinds(config).every(({ name }) => kinds.includes(name));
}

/**
 * Reads one run with its report of each kind.
 *
 * @throws {SyncError} `run.absent` if there is no such run.
 */
export async function readRun(
  config: Config,
  id: number,
): Promise<Run & { readonly reports: readonly KindReport[] }> {
  await using session = await openExistingMirror(config);
  const run = await findRun(session, id, systemClock.now());
  if (run !== null) return run;
  throw new SyncError(`There is no run ${id}.`, {
    code: 'run.absent',
    hint: 'bms-sync runs lists those that are kept.',
  });
}

/** Asks the mirror one question in SQL, read-only. */
export async function queryMirror(config: Config, question: string): Promise<readonly Row[]> {
  await using session = await openExistingMirror(config);
  return await session.query(sql.raw(question));
}
