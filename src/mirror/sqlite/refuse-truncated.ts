import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { MirrorError } from '../session/errors.ts';
import { errorCode } from '../../lib/sync-error.ts';

/** The size of a SQLite file by its header, and its real size. */
interface FileSize {
  readonly pageSize: number;
  /** How many pages it should have. */
  readonly pages: number;
  readonly bytes: number;
}

const HEADER = 100;
const MAGIC = 'SQLite format 3\0';
const LARGEST_PAGE = 65_536; // Does not fit into the header's two bytes and is written as 1.
const LOOKS = 3; // Another process may be moving its log into the file between two of our readings.

/**
 * Refuses a truncated SQLite file: SQLite may not notice until it reads the last page.
 *
 * No connection of this process may be open on the file: closing it here would drop their locks.
 *
 * @throws {MirrorError} `mirror.truncated`
 */
export function refuseTruncated(path: string): void {
  for (let look = 1; ; look++) {
    const size = readSize(path);
    const lacking = size === null ? 0 : countLacking(path, size);
    if (size === null || lacking === 0) return;
    if (look === LOOKS) throw truncated(path, size, lacking);
  }
}

/** Null if there is no file, or its header does not give its size (https://sqlite.org/fileformat.html, §1.3.8). */
function readSize(path: string): FileSize | null {
  const file = openExisting(path);
  if (file === null) return null;
  try {
    const header = Buffer.alloc(HEADER);
    const isHeader =
      readSync(file, header, 0, HEADER, 0) === HEADER && header.toString('latin1', 0, 16) === MAGIC;
    const isValid = header.readUInt32BE(24) === header.readUInt32BE(92); // Otherwise an old SQLite wrote it last.
    if (!isHeader || !isValid) return null;
    const pageSize = header.readUInt16BE(16);
    return {
      pageSize: pageSize === 1 ? LARGEST_PAGE : pageSize,
      pages: header.readUInt32BE(28),
      bytes: fstatSync(file).size,
    };
  } finally {
    closeSync(file);
  }
}

function openExisting(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) !== '') return null; // SQLite reports this fault itself.
    throw error;
  }
}

/** The number of pages that are neither in the file nor in its write-ahead log, which a dead process may have left. */
function countLacking(path: string, { pageSize, pages, bytes }: FileSize): number {
  const whole = Math.floor(bytes / pageSize);
  if (whole >= pages) return 0;
  const log = readWalPages(`${path}-wal`);
  let lacking = 0;
  for (let page = whole + 1; page <= Math.min(pages, log.size ?? pages); page++)
    if (!log.held.has(page)) lacking += 1;
  return lacking;
}

function truncated(path: string, { pageSize, pages, bytes }: FileSize, lacking: number): MirrorError {
  const message = `The mirror ${path} is not a healthy SQLite database: it has ${bytes} bytes, its header names ${pages} pages of ${pageSize} (${pages * pageSize} bytes), and ${lacking} of them are nowhere.`;
  return new MirrorError(message, {
    code: 'mirror.truncated',
    hint: 'Stop every process that uses it. Restore it from a copy, or move it away with the files beside it and start a new one: bms-sync pull.',
  });
}

/** The content of the write-ahead log of a SQLite file (https://sqlite.org/fileformat.html#walformat). */
interface WalPages {
  /** The pages that it holds. */
  readonly held: ReadonlySet<number>;
  /** The smallest size of the database, in pages, that one of its commits names; null if it has no commit. */
  readonly size: number | null;
}

const [LOG_HEADER, FRAME] = [32, 24];
const LOG_MAGICS: readonly number[] = [0x377f0682, 0x377f0683];
const NONE: WalPages = { held: new Set(), size: null };

/**
 * Reads which pages the log of a database holds, by its frames' headers; empty if there is no log.
 *
 * Checksums are left to SQLite: a frame too many makes a file seem whole, never broken.
 */
function readWalPages(path: string): WalPages {
  const log = openLog(path);
  if (log === null) return NONE;
  try {
    return readFrames(log);
  } finally {
    closeSync(log);
  }
}

function openLog(path: string): number | null {
  try {
    return openSync(path, 'r'); // SQLite holds no lock on the log, so closing it loses none.
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function readFrames(log: number): WalPages {
  const header = Buffer.alloc(LOG_HEADER);
  if (readSync(log, header, 0, LOG_HEADER, 0) < LOG_HEADER || !LOG_MAGICS.includes(header.readUInt32BE(0)))
    return NONE;
  const [stride, salts] = [FRAME + header.readUInt32BE(8), header.subarray(16, 24)];
  const held = new Set<number>();
  const sizes: number[] = [];
  const frame = Buffer.alloc(FRAME);
  for (let at = LOG_HEADER; readSync(log, frame, 0, FRAME, at) === FRAME; at += stride) {
    if (!frame.subarray(8, 16).equals(salts)) break; // Remains of an earlier log.
    held.add(frame.readUInt32BE(0));
    const size = frame.readUInt32BE(4);
    if (size > 0) sizes.push(size);
  }
  return { held, size: sizes.length === 0 ? null : sizes.reduce((a, b) => Math.min(a, b)) };
}
