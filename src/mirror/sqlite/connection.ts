import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { MirrorError } from '../session/errors.ts';
import { errorCode } from '../../lib/error-code.ts';

/** SQLite before this may corrupt a WAL database that two connections write and checkpoint at once. */
const OLDEST_SAFE = '3.51.3';
const BUSY_TIMEOUT_MS = 10_000;
const WRITER_CACHE_KIB = 24 * 1024;
const READER_CACHE_KIB = 4 * 1024; // It scans whole lists and reads hardly anything twice.
const PAGE_BYTES = 16_384; // A record is a kilobyte: with pages of 4 KB each commit writes three times as much.
const CHECKPOINT_PAGES = 2_000; // 32 MB: a first pull touches the same pages often, and each checkpoint waits for the disk.
const LOG_BYTES = CHECKPOINT_PAGES * PAGE_BYTES; // A log that a long transaction of a reader let grow is cut back to this afterwards.
const OWNER_ONLY = 0o600; // The mirror holds personal data of clients.

/** Opens the writing connection, with the settings that SQLite does not store in the file. */
export function openWriter(path: string): Database {
  createFile(path);
  const writer = new Sqlite(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseOldSqlite(writer);
    writer.pragma(`page_size = ${PAGE_BYTES}`); // Of a new file; an old one keeps its own.
    writer.pragma('journal_mode = WAL');
    writer.pragma('synchronous = NORMAL'); // A power cut may undo the last pages of a pull; the next pull reads them again.
    writer.pragma(`cache_size = -${WRITER_CACHE_KIB}`);
    writer.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    writer.pragma(`journal_size_limit = ${LOG_BYTES}`);
    return writer;
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** Opens the read-only connection; if that fails, the writer is closed too. */
export function openReader(path: string, writer: Database): Database {
  try {
    const reader = new Sqlite(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
    reader.pragma(`cache_size = -${READER_CACHE_KIB}`);
    return reader;
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** An existing file is left to SQLite alone: opening and closing it here would drop the process's locks on it. */
function createFile(path: string): void {
  if (path === '' || path === ':memory:') {
    throw new MirrorError(`"${path}" names no file.`, {
      code: 'mirror.no_file',
      hint: 'Set DATABASE_URL to file:PATH: the mirror must outlive the process.',
    });
  }
  mkdirSync(dirname(path), { recursive: true });
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY)); // SQLite gives the files beside it the same mode.
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function refuseOldSqlite(connection: Database): void {
  const version = String(connection.prepare('select sqlite_version()').pluck().get());
  if (version.localeCompare(OLDEST_SAFE, 'en', { numeric: true }) >= 0) return;
  throw new MirrorError(`SQLite is ${version}, expected ${OLDEST_SAFE} or later.`, {
    code: 'mirror.sqlite_too_old',
    hint: 'Run npm ci again: it builds the SQLite that bms-sync was tested with.',
  });
}
