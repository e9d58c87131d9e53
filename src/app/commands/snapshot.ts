import { allKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { instantText, systemClock } from '../../lib/time/clock.ts';
import { takeSnapshot } from '../../report/snapshot.ts';
import type { SnapshotContent } from '../../report/snapshot.ts';
import { outputFault, snapshotFile } from '../../report/output-file.ts';
import { openExistingMirror } from '../open-mirror.ts';

/** The document of `snapshot --json`. */
interface SnapshotReport extends SnapshotContent {
  readonly file: string;
  readonly takenAt: string;
}

/**
 * Writes a snapshot of the views for reporting tools; it replaces the former one at once.
 *
 * @throws {UsageError} For a file that is no snapshot, or cannot be written.
 */
export async function writeSnapshot(config: Config, file: string): Promise<SnapshotReport> {
  const path = snapshotFile(config, file);
  await using session = await openExistingMirror(config);
  const now = systemClock.now();
  try {
    const request = { url: config.database.url, kinds: allKinds(config), path, now };
    return { file: path, takenAt: instantText(now), ...(await takeSnapshot(session, request)) };
  } catch (error) {
    throw outputFault(error, path);
  }
}
