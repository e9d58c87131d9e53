import Sqlite, { type Database } from 'better-sqlite3';
import { errorCode } from '../../lib/sync-error.ts';
import { translateErrors } from '../session/errors.ts';

/** A step that must still be done before a file no longer holds removed content. */
type ScrubStep = 'vacuum' | 'checkpoint';

/** Writers are soon done; a reader may have a transaction open for hours. */
const VACUUM_TIMEOUT_MS = 10_000;
const CHECKPOINT_TIMEOUT_MS = 2_000;

/**
 * Rewrites a SQLite file without the pages and the free space that still hold removed content, and empties its log. Takes about
 * a second for 100 MB, during which others wait to write. A session may be open on the file, without a transaction.
 * @param step Where to begin. A checkpoint alone waits for no other process.
 * @returns The step that another process kept from being done; null = none. Until then the file holds removed content.
 */
export const scrubFile = (path: string, step: ScrubStep = 'vacuum'): ScrubStep | null =>
  translateErrors(path, () => scrub(path, step));

function scrub(path: string, step: ScrubStep): ScrubStep | null {
  const file = new Sqlite(path, { timeout: step === 'vacuum' ? VACUUM_TIMEOUT_MS : 0 });
  try {
    if (step === 'vacuum' && nullIfBusy(() => file.exec('vacuum')) === null) return 'vacuum';
    if (step === 'vacuum') file.pragma(`busy_timeout = ${CHECKPOINT_TIMEOUT_MS}`);
    return nullIfBusy(() => isLogEmptied(file)) === true ? null : 'checkpoint';
  } finally {
    file.close();
  }
}

function isLogEmptied(file: Database): boolean {
  const [checkpoint] = file.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  return checkpoint?.busy === 0;
}

/** Returns null if the file is busy, or the disk has no room for a copy. */
function nullIfBusy<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (errorCode(error).startsWith('SQLITE_BUSY') || errorCode(error) === 'SQLITE_FULL') return null;
    throw error;
  }
}
