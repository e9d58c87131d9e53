import Sqlite from 'better-sqlite3';
import { errorCode } from '../../lib/error-code.ts';

const BUSY_TIMEOUT_MS = 10_000;

/**
 * Rewrites a SQLite file without the pages and the free space that still hold removed content, and empties its log.
 *
 * Takes about a second for 100 MB, during which others wait to write. Call it without a session on the file.
 *
 * @returns False if another process kept the file busy: the file then still holds the removed content.
 */
export function scrubFile(path: string): boolean {
  const file = new Sqlite(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    file.exec('vacuum');
    const [checkpoint] = file.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    return checkpoint?.busy === 0;
  } catch (error) {
    if (errorCode(error).startsWith('SQLITE_BUSY') || errorCode(error) === 'SQLITE_FULL') return false;
    throw error;
  } finally {
    file.close();
  }
}
