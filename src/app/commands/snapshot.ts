import type { Config } from '../../config/settings.ts';
import { openExistingMirror } from '../open-mirror.ts';
import { snapshotFile } from '../../report/output-file.ts';
import { writeSnapshotFile } from '../snapshot-file.ts';
import type { SnapshotReport } from '../snapshot-file.ts';

export type { SnapshotReport } from '../snapshot-file.ts';

/**
 * Writes a snapshot of the views for reporting tools; it replaces the former one at once.
 *
 * @throws {UsageError} For a file that is no snapshot, or cannot be written.
 */
export async function writeSnapshot(config: Config, file: string): Promise<SnapshotReport> {
  const path = snapshotFile(config, file);
  await using session = await openExistingMirror(config);
  return await writeSnapshotFile(session, config, path);
}
