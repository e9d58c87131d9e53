import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DISK_IN_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4e9; // A whole run fills a quarter of it.

/**
 * Lets everything that a run of the tests puts into the folder for temporary files go to one of its own: in memory where
 * there is room, as thousands of databases are made and dropped, and a disk would have to follow.
 *
 * @returns What removes it; a run that is broken off removes it as well.
 */
export function useScratchFolder(): () => void {
  const folder = mkdtempSync(join(hasRoom(DISK_IN_MEMORY) ? DISK_IN_MEMORY : tmpdir(), 'bms-sync-tests-'));
  chmodSync(folder, 0o755); // PostgreSQL runs as its own user, like a few tests.
  process.env['TMPDIR'] = folder; // Workers, and what they start, inherit it.
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  return remove;
}

function hasRoom(disk: string): boolean {
  if (!existsSync(disk)) return false;
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize > ENOUGH_BYTES;
}
