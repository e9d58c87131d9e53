import { closeSync, openSync, readSync } from 'node:fs';

/** The content of the write-ahead log of a SQLite file (https://sqlite.org/fileformat.html#walformat). */
interface WalPages {
  /** The pages that it holds. */
  readonly held: ReadonlySet<number>;
  /** The smallest size of the database, in pages, that one of its commits names; null if it has no commit. */
  readonly size: number | null;
}

const [HEADER, FRAME] = [32, 24];
const MAGICS: readonly number[] = [0x377f0682, 0x377f0683];
const NONE: WalPages = { held: new Set(), size: null };

/**
 * Reads which pages the log of a database holds, by its frames' headers; empty if there is no log.
 *
 * Checksums are left to SQLite: a frame too many makes a file seem whole, never broken.
 */
export function readWalPages(path: string): WalPages {
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function readFrames(log: number): WalPages {
  const header = Buffer.alloc(HEADER);
  if (readSync(log, header, 0, HEADER, 0) < HEADER || !MAGICS.includes(header.readUInt32BE(0))) return NONE;
  const [stride, salts] = [FRAME + header.readUInt32BE(8), header.subarray(16, 24)];
  const held = new Set<number>();
  const sizes: number[] = [];
  const frame = Buffer.alloc(FRAME);
  for (let at = HEADER; readSync(log, frame, 0, FRAME, at) === FRAME; at += stride) {
    if (!frame.subarray(8, 16).equals(salts)) break; // Remains of an earlier log.
    held.add(frame.readUInt32BE(0));
    const size = frame.readUInt32BE(4);
    if (size > 0) sizes.push(size);
  }
  return { held, size: sizes.length === 0 ? null : sizes.reduce((a, b) => Math.min(a, b)) };
}
