import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { allKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { SyncError } from '../lib/sync-error.ts';
import { instantText, systemClock } from '../lib/time/clock.ts';
import type { Session } from '../mirror/session/session.ts';
import { removeDrafts } from '../mirror/sqlite/snapshot-file.ts';
import { takeSnapshot } from '../report/snapshot.ts';
import type { SnapshotContent } from '../report/snapshot.ts';
import { outputFault, snapshotFile } from '../report/output-file.ts';

/** The document of `snapshot --json`. */
export interface SnapshotReport extends SnapshotContent {
  readonly file: string;
  readonly takenAt: string;
}

/**
 * Writes a snapshot of the views; it replaces the former one at once.
 *
 * @param path As `snapshotFile` gives it.
 * @throws {SyncError} `file.not_written`.
 */
export async function writeSnapshotFile(
  session: Session,
  config: Config,
  path: string,
): Promise<SnapshotReport> {
  const now = systemClock.now();
  try {
    const request = { url: config.database.url, kinds: allKinds(config), path, now };
    return { file: path, takenAt: instantText(now), ...(await takeSnapshot(session, request)) };
  } catch (error) {
    throw outputFault(error, path);
  }
}

/** The snapshot that `bi.snapshotPath` names, after content was removed from the mirror. */
export interface RenewedSnapshot {
  readonly file: string;
  readonly rewritten: boolean;
}

/** The snapshot that `bi.snapshotPath` names; null if none is named, or none was written yet. */
export function presentSnapshot({ bi: { snapshotPath: file } }: Config): string | null {
  return file !== null && existsSync(file) ? file : null;
}

/** Writes a snapshot again; a fault is part of the result. */
export async function renewSnapshot(
  session: Session,
  config: Config,
  file: string,
): Promise<RenewedSnapshot> {
  try {
    await writeSnapshotFile(session, config, snapshotFile(config, file));
    return { file, rewritten: true };
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return { file, rewritten: false };
  }
}

/** Removes the present snapshot, and the remains of unfinished ones. @throws {UsageError} For a file that is no snapshot. */
export function removeSnapshot(config: Config): void {
  removeUnfinished(config);
  const file = presentSnapshot(config);
  if (file !== null) rmSync(snapshotFile(config, file));
}

/** Removes what killed processes have left of the snapshot that `bi.snapshotPath` names. */
export function removeUnfinished({ bi: { snapshotPath: file } }: Config): void {
  if (file !== null) removeDrafts(resolve(file));
}
